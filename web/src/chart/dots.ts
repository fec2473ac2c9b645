import uPlot from 'uplot';
import { dotsXAxis, yAxis } from './axes.ts';
import { Chart, scale } from './chart.ts';
import { clip } from './marks.ts';
import { look } from './palette.ts';
import type { Spot } from './tooltip.ts';
import type { Unit } from '../report.ts';

/** Two quantities against each other, both on logarithmic axes. */
export interface DotsSpec {
  title: string;
  xLabel: string;
  yLabel: string;
  /** In rising order of `x`; all above zero. */
  dots: Dot[];
  xTicks: (xs: number[]) => string[];
  /** Up the side. */
  unit: Unit;
  spot: (dot: Dot) => Spot;
}

export interface Dot {
  x: number;
  y: number;
  /** How many it stands for: the more, the stronger. */
  count: number;
}

/** Within this many pixels of a dot, the pointer means it. */
const REACH = 30;

/** The highest value of an axis is at least so many times its lowest. */
const LEAST_SPAN = 30;

export class Dots extends Chart {
  private readonly most: number;

  constructor(private readonly spec: DotsSpec) {
    super(
      spec.title,
      `${spec.title}: ${spec.yLabel} against ${spec.xLabel}. Left and right arrow keys read the dots; the table below sums them up.`,
      'plain',
      true,
    );
    this.most = spec.dots.reduce((most, dot) => Math.max(most, dot.count), 1);
  }

  protected override get places(): number {
    return this.spec.dots.length;
  }

  protected override get subjects(): number[] {
    return [1];
  }

  protected override position(place: number): { left: number; top: number } {
    const dot = this.spec.dots[place];
    if (!dot || !this.plot) return { left: -10, top: -10 };
    return { left: this.plot.valToPos(dot.x, 'x'), top: this.plot.valToPos(dot.y, 'y') };
  }

  protected override spot(place: number): Spot | null {
    const dot = this.spec.dots[place];
    return dot ? this.spec.spot(dot) : null;
  }

  protected override build(width: number): uPlot {
    const { spec } = this;
    const options: uPlot.Options = {
      width,
      height: this.height,
      padding: [22, 14, 0, 0],
      legend: { show: false },
      scales: {
        x: { time: false, ...scale(true) },
        y: scale(true),
      },
      axes: [dotsXAxis(spec), yAxis(spec, true)],
      series: [{}, { paths: () => null, points: { show: false } }],
      cursor: { ...this.cursor, points: { show: false } },
      hooks: {
        drawSeries: [
          (plot) => {
            this.draw(plot);
          },
        ],
        setCursor: [
          ({ cursor: { left, top } }) => {
            this.follow(left === undefined || top === undefined || left < 0 ? null : this.nearest(left, top));
          },
        ],
      },
    };
    return new uPlot(options, [spec.dots.map((dot) => dot.x), spec.dots.map((dot) => dot.y)], this.host);
  }

  protected override showAll(): void {
    const { plot, spec } = this;
    if (!plot || spec.dots.length === 0) return;
    plot.batch(() => {
      plot.setScale('x', span(spec.dots.map((dot) => dot.x)));
      plot.setScale('y', span(spec.dots.map((dot) => dot.y)));
    });
  }

  private nearest(left: number, top: number): number | null {
    let best: number | null = null;
    let least = REACH;
    this.spec.dots.forEach((_dot, place) => {
      const at = this.position(place);
      const distance = Math.hypot(at.left - left, at.top - top);
      if (distance < least) {
        least = distance;
        best = place;
      }
    });
    return best;
  }

  private draw(plot: uPlot): void {
    const { ctx } = plot;
    const scale = window.devicePixelRatio;
    clip(plot);
    ctx.fillStyle = look(1).colour;
    for (const dot of this.spec.dots) {
      // By the logarithm, or a field with a thousand would leave those with one invisible.
      ctx.globalAlpha = 0.35 + (0.65 * Math.log(dot.count)) / Math.max(Math.log(this.most), 1);
      ctx.beginPath();
      ctx.arc(plot.valToPos(dot.x, 'x', true), plot.valToPos(dot.y, 'y', true), 2.6 * scale, 0, 2 * Math.PI);
      ctx.fill();
    }
    ctx.restore();
  }
}

/** Room around all values, and enough of it for two marks where they are close together. */
function span(values: number[]): { min: number; max: number } {
  const min = values.reduce((a, b) => Math.min(a, b)) / 1.5;
  const max = values.reduce((a, b) => Math.max(a, b)) * 1.5;
  const stretch = Math.max(1, Math.sqrt((LEAST_SPAN * min) / max));
  return { min: min / stretch, max: max * stretch };
}
