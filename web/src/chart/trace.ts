import uPlot from 'uplot';
import { enlarged, traceXAxis, yAxis } from './axes.ts';
import { Chart, scale } from './chart.ts';
import { drawBand } from './marks.ts';
import { look, themed } from './palette.ts';
import type { Reading, Spot } from './tooltip.ts';
import type { Unit } from '../report.ts';
import { writing, written } from '../units.ts';

/** Lines through very many points: something over time, or a whole distribution. */
export interface TraceSpec {
  title: string;
  xLabel: string;
  yLabel: string;
  /** In rising order. */
  xs: number[];
  lines: TraceLine[];
  /** How a place on the x axis is called in tooltips. */
  words: (x: number) => string;
  /** Marks of the x axis, where the usual ones will not do. */
  splits?: number[];
  /** Whether marks are to stand at minutes and hours. */
  byTheClock?: boolean;
  xTicks: (xs: number[]) => string[];
  /** Up the side. */
  unit: Unit;
  /** The marks of the y axis, where they are not those of the unit. */
  ticks?: (ys: number[]) => string[];
  /** The part of the x axis that counts; the rest is shaded. */
  counted?: [number, number];
  /** Where something changes; a thin line, with its name where there is room. */
  boundaries?: { x: number; name: string }[];
  /** Both ends of the x axis, where they are not those of the points. */
  extent?: [number, number];
  /** Where else the points are to be read. */
  elsewhere?: string;
}

/** What is replaced while a chart is looked at. */
export type TraceData = Pick<TraceSpec, 'xs' | 'lines' | 'boundaries' | 'extent'>;

export interface TraceLine {
  name: string;
  /** Decides colour and dash. */
  subject: number;
  /** One for each x; `null` where there is nothing. */
  ys: (number | null)[];
  /** Whether it goes on over places where there is nothing, as between samples. */
  bridged?: boolean;
  /** Where it also has a least and a greatest value at each x, as a band. */
  ranges?: ([number, number] | null)[];
}

export class Trace extends Chart {
  /** The ends of both axes when all was shown last: others are the reader's. */
  private all: number[] = [];
  /** Whether the axis that is drawn is logarithmic. */
  private isByPowers = false;

  constructor(
    private spec: TraceSpec,
    logarithmic = false,
  ) {
    const names = spec.lines.map((line) => line.name).join(', ');
    super(
      spec.title,
      `${spec.title}: ${spec.yLabel} against ${spec.xLabel}; ${names}. Left and right arrow keys read the points${spec.elsewhere ?? '; the table below has them'}.`,
      'plain',
      logarithmic,
    );
  }

  protected override get places(): number {
    return this.spec.xs.length;
  }

  protected override get subjects(): number[] {
    return this.spec.lines.map((line) => line.subject);
  }

  protected override position(place: number): { left: number; top: number } {
    return { left: this.plot?.valToPos(this.spec.xs[place] ?? 0, 'x') ?? -10, top: 8 };
  }

  protected override spot(place: number): Spot | null {
    const { spec } = this;
    const x = spec.xs[place];
    if (x === undefined) return null;
    const readings = this.visible.flatMap((line): Reading[] => {
      const y = line.ys[place] ?? null;
      if (y === null && line.bridged) return [];
      const value = y === null ? 'none' : written(y, spec.unit);
      const range = line.ranges?.[place];
      const format = writing(spec.unit);
      const details = range ? [`from ${format(range[0])} to ${format(range[1])}`] : [];
      return [{ name: line.name, subject: line.subject, value, details }];
    });
    return { words: spec.words(x), readings };
  }

  private get visible(): TraceLine[] {
    return this.spec.lines.filter((line) => !this.hidden.has(line.subject));
  }

  /** Whether the axis is logarithmic: not where all is zero, whatever the reader asks for. */
  private get byPowers(): boolean {
    return this.logarithmic && this.spec.lines.some((line) => line.ys.some((y) => y !== null && y > 0));
  }

  private get data(): uPlot.AlignedData {
    const { xs, lines } = this.spec;
    // Zero has no place on a logarithmic axis.
    const shown = (y: number | null): number | null => (this.byPowers && y !== null && y <= 0 ? null : y);
    return [xs, ...lines.map((line) => line.ys.map(shown))];
  }

  /** Other points, on the same axes; what the reader has zoomed in on stays in sight. */
  replace(data: TraceData): void {
    const names = (lines: TraceLine[]): string => JSON.stringify(lines.map((line) => line.name));
    const same = names(data.lines) === names(this.spec.lines);
    const zoomed = this.plot !== null && String(this.ends(this.plot)) !== String(this.all);
    this.spec = { ...this.spec, ...data };
    if (!same || this.byPowers !== this.isByPowers) {
      this.rebuild();
    } else {
      this.plot?.setData(this.data, false);
      if (zoomed) this.plot?.redraw();
      else this.showAll();
    }
  }

  private ends({ scales }: uPlot): (number | undefined)[] {
    return [scales.x?.min, scales.x?.max, scales.y?.min, scales.y?.max];
  }

  protected override build(width: number): uPlot {
    const { spec } = this;
    this.isByPowers = this.byPowers;
    const options: uPlot.Options = {
      width,
      height: this.height,
      padding: [22, 14, 0, 0],
      legend: { show: false },
      scales: {
        x: { time: false, ...scale(false) },
        y: scale(this.byPowers),
      },
      axes: [traceXAxis(spec), yAxis(spec, this.byPowers)],
      series: [{}, ...spec.lines.map((line) => series(line, this.hidden.has(line.subject)))],
      cursor: {
        ...this.cursor,
        x: true,
        points: { size: 7, width: 2, fill: 'transparent', stroke: (_plot, i) => strokeOf(spec, i) },
      },
      hooks: {
        drawAxes: [
          (plot) => {
            drawGround(plot, this.spec);
            for (const line of this.visible) drawRanges(plot, this.spec.xs, line);
          },
        ],
        setCursor: [this.followCursor],
      },
    };
    return new uPlot(options, this.data, this.host);
  }

  protected override showAll(): void {
    const { plot, spec } = this;
    if (!plot) return;
    const ys = this.visible.flatMap((line) => [
      ...line.ys.filter((y) => y !== null),
      ...(line.ranges ?? []).flatMap((range) => range ?? []),
    ]);
    const most = ys.reduce((a, b) => Math.max(a, b), 0);
    const least = ys.filter((y) => y > 0).reduce((a, b) => Math.min(a, b), Infinity);
    const high = most > 0 ? most : 1;
    const [min, max] = this.byPowers ? [Math.min(least, high) / 1.3, high * 1.3] : [0, high * 1.06];
    const [from, to] = spec.extent ?? [spec.xs[0] ?? 0, spec.xs.at(-1) ?? 1];
    this.all = [from, to, min, max];
    plot.batch(() => {
      plot.setScale('x', { min: from, max: to });
      plot.setScale('y', { min, max });
    });
  }
}

function series(line: TraceLine, hidden: boolean): uPlot.Series {
  return {
    label: line.name,
    show: !hidden,
    stroke: () => look(line.subject).colour,
    width: 1.5,
    dash: look(line.subject).dash,
    points: { show: false },
    spanGaps: line.bridged ?? false,
  };
}

function strokeOf(spec: TraceSpec, seriesIndex: number): string {
  return look(spec.lines[seriesIndex - 1]?.subject ?? 0).colour;
}

function drawRanges(plot: uPlot, xs: number[], { subject, ranges }: TraceLine): void {
  const ends = (ranges ?? []).flatMap((range, i) => {
    const x = xs[i];
    return range && x !== undefined ? [{ x, low: range[0], high: range[1] }] : [];
  });
  drawBand(plot, subject, ends);
}

/** What lies under the lines: the shade over what does not count, and the boundaries. */
function drawGround(plot: uPlot, spec: TraceSpec): void {
  const { ctx, bbox } = plot;
  const scale = window.devicePixelRatio;
  const x = (value: number): number =>
    Math.min(Math.max(plot.valToPos(value, 'x', true), bbox.left), bbox.left + bbox.width);
  ctx.save();
  if (spec.counted) {
    ctx.fillStyle = themed('--band');
    const [from, to] = spec.counted.map(x);
    ctx.fillRect(bbox.left, bbox.top, (from ?? 0) - bbox.left, bbox.height);
    ctx.fillRect(to ?? 0, bbox.top, bbox.left + bbox.width - (to ?? 0), bbox.height);
  }
  ctx.font = `${11 * scale * enlarged()}px "Inter Variable", system-ui, sans-serif`;
  ctx.textAlign = 'left';
  ctx.textBaseline = 'bottom';
  let drawnTo = -Infinity;
  for (const boundary of spec.boundaries ?? []) {
    const at = plot.valToPos(boundary.x, 'x', true);
    if (at < bbox.left - 1 || at > bbox.left + bbox.width) continue;
    ctx.fillStyle = themed('--ink-faint');
    ctx.fillRect(at, bbox.top, scale, bbox.height);
    // At the right edge it ends there, so that it can be read.
    const { width } = ctx.measureText(boundary.name);
    const from = Math.min(at, bbox.left + bbox.width - width);
    if (from < drawnTo) continue;
    ctx.fillText(boundary.name, from, bbox.top - 4 * scale);
    drawnTo = from + width + 10 * scale;
  }
  ctx.restore();
}
