import type uPlot from 'uplot';
import { look, type Look, type Marker } from './palette.ts';

/** Traces a marker around a point; `r` is its radius. */
function trace(ctx: CanvasRenderingContext2D, marker: Marker, x: number, y: number, r: number): void {
  ctx.beginPath();
  switch (marker) {
    case 'disc':
      ctx.arc(x, y, r, 0, 2 * Math.PI);
      break;
    case 'square':
      ctx.rect(x - r * 0.9, y - r * 0.9, r * 1.8, r * 1.8);
      break;
    case 'triangle':
      ctx.moveTo(x, y - r * 1.15);
      ctx.lineTo(x + r * 1.1, y + r * 0.85);
      ctx.lineTo(x - r * 1.1, y + r * 0.85);
      break;
    case 'diamond':
      ctx.moveTo(x, y - r * 1.25);
      ctx.lineTo(x + r * 1.25, y);
      ctx.lineTo(x, y + r * 1.25);
      ctx.lineTo(x - r * 1.25, y);
      break;
  }
  ctx.closePath();
}

/** A point of a curve: discs are filled, the other markers hollow, so that both show where they meet. */
export function drawMarker(
  ctx: CanvasRenderingContext2D,
  look: Look,
  surface: string,
  x: number,
  y: number,
  scale: number,
): void {
  trace(ctx, look.marker, x, y, (look.marker === 'disc' ? 4 : 5) * scale);
  ctx.setLineDash([]);
  ctx.lineWidth = 2 * scale;
  ctx.strokeStyle = look.marker === 'disc' ? surface : look.colour;
  ctx.fillStyle = look.marker === 'disc' ? look.colour : surface;
  ctx.fill();
  ctx.stroke();
}

type Segment = readonly [fromX: number, fromY: number, toX: number, toY: number];

function strokeSegments(
  ctx: CanvasRenderingContext2D,
  colour: string,
  width: number,
  segments: readonly Segment[],
): void {
  ctx.setLineDash([]);
  ctx.lineWidth = width;
  ctx.strokeStyle = colour;
  ctx.beginPath();
  for (const [fromX, fromY, toX, toY] of segments) {
    ctx.moveTo(fromX, fromY);
    ctx.lineTo(toX, toY);
  }
  ctx.stroke();
}

/** The bar of an interval, with caps. */
export function drawInterval(
  ctx: CanvasRenderingContext2D,
  colour: string,
  x: number,
  low: number,
  high: number,
  scale: number,
): void {
  const cap = 4 * scale;
  strokeSegments(ctx, colour, 1.25 * scale, [
    [x, low, x, high],
    [x - cap, low, x + cap, low],
    [x - cap, high, x + cap, high],
  ]);
}

/** One repeat of several: a faint tick beside the pooled point. */
export function drawRepeat(
  ctx: CanvasRenderingContext2D,
  colour: string,
  x: number,
  y: number,
  scale: number,
): void {
  ctx.save();
  ctx.globalAlpha = 0.55;
  ctx.fillStyle = colour;
  ctx.beginPath();
  ctx.arc(x, y, 1.75 * scale, 0, 2 * Math.PI);
  ctx.fill();
  ctx.restore();
}

/** A test that does not count. */
export function drawCross(
  ctx: CanvasRenderingContext2D,
  colour: string,
  x: number,
  y: number,
  scale: number,
): void {
  const r = 4.5 * scale;
  strokeSegments(ctx, colour, 2 * scale, [
    [x - r, y - r, x + r, y + r],
    [x - r, y + r, x + r, y - r],
  ]);
}

/** Until `restore`, nothing is drawn further out of the plot than so many pixels of the page. */
export function clip({ ctx, bbox }: uPlot, margin = 0): void {
  const by = margin * window.devicePixelRatio;
  ctx.save();
  ctx.beginPath();
  ctx.rect(bbox.left - by, bbox.top - by, bbox.width + 2 * by, bbox.height + 2 * by);
  ctx.clip();
}

/** The ends of a band at one place. */
export interface Ends {
  x: number;
  low: number;
  high: number;
}

/** A shade from the lower ends to the upper ones. */
export function drawBand(plot: uPlot, subject: number, ends: Ends[]): void {
  const { ctx } = plot;
  const floor = plot.scales.y?.min ?? 0;
  const place = (x: number, y: number): [number, number] => [
    plot.valToPos(x, 'x', true),
    plot.valToPos(Math.max(y, floor), 'y', true),
  ];
  const outline = [
    ...ends.map(({ x, high }) => place(x, high)),
    ...ends.toReversed().map(({ x, low }) => place(x, low)),
  ];
  clip(plot);
  ctx.globalAlpha = 0.2;
  ctx.fillStyle = look(subject).colour;
  ctx.beginPath();
  outline.forEach(([x, y], i) => {
    if (i === 0) ctx.moveTo(x, y);
    else ctx.lineTo(x, y);
  });
  ctx.fill();
  ctx.restore();
}
