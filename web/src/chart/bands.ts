import uPlot from 'uplot';
import type { Estimate, Unit } from '../report.ts';
import { interval } from '../format.ts';
import { bandsXAxis, yAxis } from './axes.ts';
import { Chart, scale } from './chart.ts';
import { clip, drawBand, drawMarker, type Ends } from './marks.ts';
import { look, themed } from './palette.ts';
import { drawBeginnings, shadeOverload, type Beginning } from './references.ts';
import type { Reading, Spot } from './tooltip.ts';
import { writing } from '../units.ts';

/** Curves of computed points with their confidence bands; each has its own places on the x axis. */
export interface BandsSpec {
  title: string;
  xLabel: string;
  yLabel: string;
  xLogarithmic: boolean;
  curves: BandCurve[];
  /** Where something begins, in rising order. */
  marks: Beginning[];
  /** Whether their names stand above the plot, where there is room for short ones. */
  namesAbove?: boolean;
  /** Where load beyond capacity begins; shaded from there on. */
  overload: number | null;
  /** How a place on the x axis is written. */
  words: (x: number) => string;
  xTicks: (xs: number[]) => string[];
  /** Up the side. */
  unit: Unit;
  /** Where else the points are to be read. */
  elsewhere?: string;
}

export interface BandCurve {
  name: string;
  /** Decides colour, marker and dash. */
  subject: number;
  /** In rising order of `x`. */
  points: BandPoint[];
}

export interface BandPoint {
  x: number;
  y: Estimate;
  note: string;
}

export class Bands extends Chart {
  private xs: number[];

  constructor(
    private spec: BandsSpec,
    logarithmic: boolean,
  ) {
    const names = spec.curves.map((curve) => curve.name).join(', ');
    super(
      spec.title,
      `${spec.title}: ${spec.yLabel} against ${spec.xLabel}; ${names}. Left and right arrow keys read the points${spec.elsewhere ?? '; the table below has all of them'}.`,
      'marked',
      logarithmic,
    );
    this.xs = places(spec);
  }

  /** Draws other curves in the place of these. */
  replace(spec: BandsSpec): void {
    this.spec = spec;
    this.xs = places(spec);
    this.rebuild();
  }

  protected override get places(): number {
    return this.xs.length;
  }

  protected override get subjects(): number[] {
    return this.spec.curves.map((curve) => curve.subject);
  }

  protected override position(place: number): { left: number; top: number } {
    return { left: this.plot?.valToPos(this.xs[place] ?? 0, 'x') ?? -10, top: 8 };
  }

  protected override spot(place: number): Spot | null {
    const x = this.xs[place];
    if (x === undefined) return null;
    const { unit, words } = this.spec;
    const format = writing(unit);
    const readings = this.visible.flatMap(({ name, subject, points }): Reading[] => {
      const point = points.find((p) => p.x === x);
      if (!point) return [];
      const range = point.y.ci && `95\u00a0% interval ${interval(point.y, format)}`;
      const details = [range ?? '', point.note].filter((detail) => detail !== '');
      return [{ name, subject, value: format(point.y.value), details }];
    });
    return { words: words(x), readings };
  }

  private get visible(): BandCurve[] {
    return this.spec.curves.filter((curve) => !this.hidden.has(curve.subject));
  }

  /** Zero has no place on a logarithmic axis. */
  private shown(y: number): number | null {
    return this.logarithmic && y <= 0 ? null : y;
  }

  protected override build(width: number): uPlot {
    const { spec, xs } = this;
    const data: uPlot.AlignedData = [
      xs,
      ...spec.curves.map(({ points }) => {
        const at = new Map(points.map((point) => [point.x, this.shown(point.y.value)]));
        return xs.map((x) => at.get(x) ?? null);
      }),
    ];
    const options: uPlot.Options = {
      width,
      height: this.height,
      padding: [22, 14, 0, 0],
      legend: { show: false },
      scales: {
        x: { time: false, ...scale(spec.xLogarithmic) },
        y: scale(this.logarithmic),
      },
      axes: [bandsXAxis(spec), yAxis(spec, this.logarithmic)],
      series: [
        {},
        ...spec.curves.map(({ name, subject }): uPlot.Series => ({
          label: name,
          show: !this.hidden.has(subject),
          stroke: () => look(subject).colour,
          width: 2,
          dash: look(subject).dash,
          points: { show: false },
          spanGaps: true,
        })),
      ],
      cursor: {
        ...this.cursor,
        x: true,
        points: {
          size: 15,
          width: 2,
          fill: 'transparent',
          stroke: (_plot, i) => look(spec.curves[i - 1]?.subject ?? 0).colour,
        },
      },
      hooks: {
        drawAxes: [
          (plot) => {
            if (spec.overload !== null) shadeOverload(plot, spec.overload);
            for (const curve of this.visible) drawBand(plot, curve.subject, intervals(curve));
          },
        ],
        drawSeries: [
          (plot, i) => {
            const curve = spec.curves[i - 1];
            if (curve) drawMarkers(plot, curve);
          },
        ],
        draw: [
          (plot) => {
            drawBeginnings(plot, spec.marks, spec.namesAbove ?? false);
          },
        ],
        setCursor: [this.followCursor],
      },
    };
    return new uPlot(options, data, this.host);
  }

  protected override showAll(): void {
    const { plot, spec, xs } = this;
    if (!plot) return;
    const ys = this.visible.flatMap((curve) =>
      curve.points.flatMap((point) => [point.y.value, ...(point.y.ci ?? [])]),
    );
    const most = ys.reduce((a, b) => Math.max(a, b), 0) || 1;
    const least = ys.filter((y) => y > 0).reduce((a, b) => Math.min(a, b), most);
    const [min, max] = this.logarithmic ? [least / 1.3, most * 1.3] : [0, most * 1.08];
    const [first, last] = [xs[0] ?? 0, xs.at(-1) ?? 1];
    const margin = (last - first || 1) * 0.04;
    const [from, to] = spec.xLogarithmic ? [first / 1.15, last * 1.15] : [first - margin, last + margin];
    plot.batch(() => {
      plot.setScale('x', { min: from, max: to });
      plot.setScale('y', { min, max });
    });
  }
}

function places({ curves }: BandsSpec): number[] {
  const xs = curves.flatMap((curve) => curve.points.map((point) => point.x));
  return [...new Set(xs)].sort((a, b) => a - b);
}

/** Where they are narrower than the line, nothing is to be seen of them. */
function intervals({ points }: BandCurve): Ends[] {
  return points.flatMap(({ x, y }) => (y.ci ? [{ x, low: y.ci[0], high: y.ci[1] }] : []));
}

function drawMarkers(plot: uPlot, { subject, points }: BandCurve): void {
  const { ctx } = plot;
  const ratio = window.devicePixelRatio;
  const surface = themed('--surface');
  const bottom = plot.scales.y?.min ?? 0;
  clip(plot, 6);
  for (const { x, y } of points) {
    if (y.value < bottom) continue;
    drawMarker(
      ctx,
      look(subject),
      surface,
      plot.valToPos(x, 'x', true),
      plot.valToPos(y.value, 'y', true),
      ratio * 0.8,
    );
  }
  ctx.restore();
}
