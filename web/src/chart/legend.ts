import { h } from '../dom.ts';
import { drawMarker } from './marks.ts';
import { look, themed } from './palette.ts';
import type { ReferenceLine } from './spec.ts';

const WIDTH = 30;
const HEIGHT = 14;

/** Whether a curve has markers at its points, or is a line of very many. */
export type Sample = 'marked' | 'plain';

/** A piece of a subject's line, with its marker where it has any, as in the plots. */
export function swatch(subject: number, kind: Sample = 'marked'): HTMLCanvasElement {
  return sample((ctx) => {
    const style = look(subject);
    stroke(ctx, style.colour, style.dash, 2);
    if (kind === 'marked') drawMarker(ctx, style, themed('--surface'), WIDTH / 2, HEIGHT / 2, 1);
  });
}

function referenceSwatch(line: ReferenceLine): HTMLCanvasElement {
  return sample((ctx) => {
    stroke(ctx, themed('--ink-soft'), line.dash, 1.25);
  });
}

function sample(draw: (ctx: CanvasRenderingContext2D) => void): HTMLCanvasElement {
  const canvas = h('canvas', { class: 'swatch', 'aria-hidden': 'true' });
  const scale = window.devicePixelRatio;
  canvas.width = WIDTH * scale;
  canvas.height = HEIGHT * scale;
  const ctx = canvas.getContext('2d');
  if (ctx) {
    ctx.scale(scale, scale);
    draw(ctx);
  }
  return canvas;
}

function stroke(ctx: CanvasRenderingContext2D, colour: string, dash: number[], width: number): void {
  ctx.strokeStyle = colour;
  ctx.lineWidth = width;
  ctx.setLineDash(dash);
  ctx.beginPath();
  ctx.moveTo(0, HEIGHT / 2);
  ctx.lineTo(WIDTH, HEIGHT / 2);
  ctx.stroke();
}

/** A curve's name and what decides its look. */
export interface Entry {
  name: string;
  subject: number;
}

/** A legend whose entries switch their curves off and on. */
export class Legend {
  readonly root = h('div', { class: 'legend' });

  constructor(
    private readonly entries: Entry[],
    private readonly lines: ReferenceLine[],
    private readonly hidden: ReadonlySet<number>,
    private readonly toggle: (subject: number) => void,
    private readonly kind: Sample = 'marked',
  ) {
    this.render();
  }

  render(): void {
    const entries = this.entries.map(({ name, subject }) => {
      const entry = h(
        'button',
        {
          type: 'button',
          'aria-pressed': String(!this.hidden.has(subject)),
          title: `Show or hide ${name}`,
        },
        swatch(subject, this.kind),
        name,
      );
      entry.addEventListener('click', () => {
        this.toggle(subject);
        entry.setAttribute('aria-pressed', String(!this.hidden.has(subject)));
      });
      return entry;
    });
    const lines = this.lines.map((line) => h('span', {}, referenceSwatch(line), line.name));
    this.root.replaceChildren(...entries, ...lines);
  }
}
