import uPlot from 'uplot';
import { interval } from '../format.ts';
import { xAxis, yAxis } from './axes.ts';
import { Chart, scale } from './chart.ts';
import { clip, drawCross, drawInterval, drawMarker, drawRepeat } from './marks.ts';
import { look, themed } from './palette.ts';
import { drawReferences } from './references.ts';
import { highest, lowest, type Curve, type PanelSpec } from './spec.ts';
import type { Reading, Spot } from './tooltip.ts';
import { writing } from '../units.ts';

/** A quantity with its interval at each of a few levels. */
export class Panel extends Chart {
  constructor(private readonly spec: PanelSpec) {
    const names = spec.curves.map((curve) => curve.name).join(' and ');
    super(
      spec.title,
      `${spec.title}: ${spec.yLabel} against ${spec.xLabel}, ${names}. Left and right arrow keys read the points; the table below has all of them.`,
      'marked',
    );
  }

  protected override get places(): number {
    return this.spec.levels.length;
  }

  protected override get subjects(): number[] {
    return this.spec.curves.map((curve) => curve.subject);
  }

  protected override position(place: number): { left: number; top: number } {
    const level = this.spec.levels[place];
    return { left: level ? (this.plot?.valToPos(level.x, 'x') ?? -10) : -10, top: 8 };
  }

  protected override spot(place: number): Spot | null {
    const level = this.spec.levels[place];
    return level ? { words: level.words, readings: this.readings(place) } : null;
  }

  private readings(place: number): Reading[] {
    const { curves, unit } = this.spec;
    const format = writing(unit);
    return curves
      .filter((curve) => !this.hidden.has(curve.subject))
      .map(({ name, subject, points }) => {
        const point = points[place];
        if (!point) return { name, subject, value: 'not measured', details: [] };
        const { estimate, counts } = point;
        const details = [`95\u00a0% interval ${interval(estimate, format)}`, counts];
        return { name, subject, value: format(estimate.value), details };
      });
  }

  protected override build(width: number): uPlot {
    const { spec } = this;
    const xs = spec.levels.map((level) => level.x);
    const data: uPlot.AlignedData = [
      xs,
      ...spec.curves.map((curve) => curve.points.map((p) => p?.estimate.value ?? null)),
    ];
    const options: uPlot.Options = {
      width,
      height: this.height,
      padding: [22, 12, 0, 0],
      legend: { show: false },
      scales: {
        x: { time: false, ...scale(false) },
        y: scale(this.logarithmic),
      },
      axes: [xAxis(spec), yAxis(spec, this.logarithmic)],
      series: [{}, ...spec.curves.map((curve) => series(curve, this.hidden.has(curve.subject)))],
      cursor: {
        ...this.cursor,
        points: { size: 15, width: 2, fill: 'transparent', stroke: (_plot, i) => strokeOf(spec, i) },
      },
      hooks: {
        drawAxes: [
          (plot) => {
            drawReferences(plot, spec);
          },
        ],
        drawSeries: [
          (plot, i) => {
            const curve = spec.curves[i - 1];
            if (curve) drawMarks(plot, curve);
          },
        ],
        setCursor: [this.followCursor],
      },
    };
    return new uPlot(options, data, this.host);
  }

  protected override showAll(): void {
    const { plot, spec } = this;
    if (!plot) return;
    const first = spec.levels[0]?.x ?? 0;
    const last = spec.levels.at(-1)?.x ?? 1;
    const margin = (last - first || 1) * 0.09;
    const [min, max] = this.ySpan();
    plot.batch(() => {
      plot.setScale('x', { min: first - margin, max: last + margin });
      plot.setScale('y', { min, max });
    });
  }

  private ySpan(): [number, number] {
    const { spec, hidden } = this;
    if (this.logarithmic) {
      const low = lowest(spec, hidden);
      return Number.isFinite(low) ? [low / 1.4, highest(spec, hidden) * 1.4] : [0.1, 10];
    }
    return spec.ySpan ?? [0, highest(spec, hidden) * 1.08 || 1];
  }
}

function series(curve: Curve, hidden: boolean): uPlot.Series {
  return {
    label: curve.name,
    show: !hidden,
    stroke: () => look(curve.subject).colour,
    width: 2,
    dash: look(curve.subject).dash,
    points: { show: false },
  };
}

function strokeOf(spec: PanelSpec, seriesIndex: number): string {
  return look(spec.curves[seriesIndex - 1]?.subject ?? 0).colour;
}

/** Intervals, repeats, excluded tests and markers of one curve, over its line. */
function drawMarks(plot: uPlot, curve: Curve): void {
  const { ctx, bbox } = plot;
  const scale = window.devicePixelRatio;
  const style = look(curve.subject);
  const surface = themed('--surface');
  const x = (value: number): number => plot.valToPos(value, 'x', true);
  const y = (value: number): number => plot.valToPos(value, 'y', true);
  clip(plot, 6);
  plot.data[0].forEach((level, i) => {
    const ci = curve.points[i]?.estimate.ci;
    if (ci) drawInterval(ctx, style.colour, x(level), y(ci[0]), y(ci[1]), scale);
  });
  for (const repeat of curve.repeats) {
    drawRepeat(ctx, style.colour, x(repeat.x) + 9 * scale, y(repeat.y), scale);
  }
  plot.data[0].forEach((level, i) => {
    const point = curve.points[i];
    if (point) drawMarker(ctx, style, surface, x(level), y(point.estimate.value), scale);
  });
  for (const test of curve.excluded) {
    const bottom = bbox.top + bbox.height - 8 * scale;
    drawCross(ctx, style.colour, x(test.x), test.y === null ? bottom : y(test.y), scale);
  }
  ctx.restore();
}
