import type uPlot from 'uplot';
import { themed } from './palette.ts';
import type { PanelSpec, ReferenceLine } from './spec.ts';

/** What lies under the curves: the shade beyond capacity, and the lines to compare with. */
export function drawReferences(plot: uPlot, spec: PanelSpec): void {
  const { ctx, bbox } = plot;
  ctx.save();
  if (spec.overload !== null) shadeOverload(plot, spec.overload);
  ctx.beginPath();
  ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
  ctx.clip();
  for (const line of spec.lines) drawLine(plot, line);
  ctx.restore();
}

/** Its name stands above the plot, where no curve can run through it. */
function shadeOverload(plot: uPlot, from: number): void {
  const { ctx, bbox } = plot;
  const scale = window.devicePixelRatio;
  const left = Math.max(plot.valToPos(from, 'x', true), bbox.left);
  const right = bbox.left + bbox.width;
  if (left >= right) return;
  ctx.fillStyle = themed('--overload');
  ctx.fillRect(left, bbox.top, right - left, bbox.height);
  ctx.fillStyle = themed('--ink-faint');
  ctx.font = `${11 * scale}px "Inter Variable", system-ui, sans-serif`;
  ctx.textAlign = 'right';
  ctx.textBaseline = 'bottom';
  ctx.fillText('more than capacity', right, bbox.top - 4 * scale);
}

function drawLine(plot: uPlot, line: ReferenceLine): void {
  const { ctx } = plot;
  const scale = window.devicePixelRatio;
  const points = line.points.map(
    ([x, y]) => [plot.valToPos(x, 'x', true), plot.valToPos(y, 'y', true)] as const,
  );
  const first = points[0];
  const last = points.at(-1);
  if (!first || !last) return;
  if (line.band) {
    const [low, high] = line.band.map((y) => plot.valToPos(y, 'y', true));
    ctx.fillStyle = themed('--band');
    ctx.fillRect(first[0], high ?? 0, last[0] - first[0], (low ?? 0) - (high ?? 0));
  }
  ctx.strokeStyle = themed('--ink-soft');
  ctx.lineWidth = 1.25 * scale;
  ctx.setLineDash(line.dash.map((length) => length * scale));
  ctx.beginPath();
  points.forEach(([x, y], i) => {
    if (i === 0) ctx.moveTo(x, y);
    else ctx.lineTo(x, y);
  });
  ctx.stroke();
}
