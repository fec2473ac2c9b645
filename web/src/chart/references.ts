import type uPlot from 'uplot';
import { enlarged } from './axes.ts';
import { clip } from './marks.ts';
import { themed } from './palette.ts';
import type { PanelSpec, ReferenceLine } from './spec.ts';

/** What lies under the curves: the shade beyond capacity, and the lines to compare with. */
export function drawReferences(plot: uPlot, spec: PanelSpec): void {
  if (spec.overload !== null) shadeOverload(plot, spec.overload);
  clip(plot);
  for (const line of spec.lines) drawLine(plot, line);
  plot.ctx.restore();
}

/** Its name stands above the plot, where no curve can run through it. */
export function shadeOverload(plot: uPlot, from: number): void {
  const { ctx, bbox } = plot;
  const scale = window.devicePixelRatio;
  const left = Math.max(plot.valToPos(from, 'x', true), bbox.left);
  const right = bbox.left + bbox.width;
  if (left >= right) return;
  ctx.save();
  ctx.fillStyle = themed('--overload');
  ctx.fillRect(left, bbox.top, right - left, bbox.height);
  ctx.fillStyle = themed('--ink-faint');
  ctx.font = `${11 * scale * enlarged()}px "Inter Variable", system-ui, sans-serif`;
  ctx.textAlign = 'right';
  ctx.textBaseline = 'bottom';
  ctx.fillText('more than capacity', right, bbox.top - 4 * scale);
  ctx.restore();
}

/** Where along the bottom something begins. */
export interface Beginning {
  x: number;
  name: string;
}

/**
 * A line up from each, its name along it or above the plot; names that would lie over one another stand side by side.
 */
export function drawBeginnings(plot: uPlot, beginnings: Beginning[], above: boolean): void {
  const { ctx, bbox } = plot;
  const scale = window.devicePixelRatio;
  ctx.save();
  ctx.strokeStyle = themed('--ink-soft');
  ctx.fillStyle = themed('--ink-soft');
  ctx.lineWidth = scale;
  ctx.setLineDash([4 * scale, 3 * scale]);
  ctx.font = `${11 * scale * enlarged()}px "Inter Variable", system-ui, sans-serif`;
  ctx.textBaseline = 'bottom';
  // Between two pixels a thin line would be half as dark.
  const places = beginnings.map(
    ({ x }) => Math.round(plot.valToPos(x, 'x', true)) + (Math.round(scale) % 2) / 2,
  );
  clip(plot);
  for (const at of places) {
    ctx.beginPath();
    ctx.moveTo(at, bbox.top);
    ctx.lineTo(at, bbox.top + bbox.height);
    ctx.stroke();
  }
  const names = beginnings.map(({ name }) => name);
  if (!above) nameAlong(plot, names, places);
  ctx.restore();
  if (above) nameAbove(plot, names, places);
  ctx.restore();
}

function nameAlong({ ctx, bbox }: uPlot, names: string[], places: number[]): void {
  const scale = window.devicePixelRatio;
  ctx.textAlign = 'right';
  const beside = places.map((at) => at - 3 * scale);
  const ends = spread(beside, 13 * scale, bbox.left + bbox.width - 3 * scale);
  names.forEach((name, i) => {
    ctx.save();
    ctx.translate(ends[i] ?? 0, bbox.top + 5 * scale);
    ctx.rotate(-Math.PI / 2);
    ctx.fillText(name, 0, 0);
    ctx.restore();
  });
}

function nameAbove({ ctx, bbox }: uPlot, names: string[], places: number[]): void {
  const scale = window.devicePixelRatio;
  ctx.textAlign = 'center';
  const width = Math.max(0, ...names.map((name) => ctx.measureText(name).width)) + 8 * scale;
  const first = bbox.left + width / 2 - 4 * scale;
  const centres = spread(
    places.map((at) => Math.max(at, first)),
    width,
    bbox.left + bbox.width - width / 2 + 4 * scale,
  );
  names.forEach((name, i) => {
    ctx.fillText(name, centres[i] ?? 0, bbox.top - 4 * scale);
  });
}

/** Places in rising order, moved so that each is `gap` from the next and none is beyond `last`. */
export function spread(places: number[], gap: number, last: number): number[] {
  const found: number[] = [];
  places.forEach((place, i) => found.push(Math.max(place, (found[i - 1] ?? -Infinity) + gap)));
  for (let i = found.length - 1, most = last; i >= 0; i -= 1, most -= gap) {
    found[i] = Math.min(found[i] ?? most, most);
    most = Math.min(most, found[i] ?? most);
  }
  return found;
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
