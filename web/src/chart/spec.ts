import type { Estimate, Unit } from '../report.ts';

/** One chart: a quantity against the factor's levels, a curve per subject. */
export interface PanelSpec {
  title: string;
  /** Every level, in rising order; also where the ticks stand. */
  levels: Level[];
  xLabel: string;
  yLabel: string;
  /** Fixed ends of the y axis; without them it starts at 0 and fits the curves. */
  ySpan?: [number, number];
  /** Up the side. */
  unit: Unit;
  /** Where load beyond capacity begins; shaded from there on. */
  overload: number | null;
  curves: Curve[];
  lines: ReferenceLine[];
}

export interface Level {
  x: number;
  tick: string;
  /** A second line under the tick, shown where there is room. */
  underTick: string;
  /** How the level is called in tooltips. */
  words: string;
}

export interface Curve {
  name: string;
  /** Index of the subject: decides colour, marker and dash. */
  subject: number;
  /** One for each level; `null` where nothing was measured. */
  points: (CurvePoint | null)[];
  repeats: { x: number; y: number }[];
  /** Tests that do not count; `y` is `null` when they left no figure. */
  excluded: { x: number; y: number | null }[];
}

export interface CurvePoint {
  estimate: Estimate;
  /** The raw counts behind the figure. */
  counts: string;
}

/** A line that is not measured here but tells how to read what is. */
export interface ReferenceLine {
  name: string;
  points: [number, number][];
  dash: number[];
  band?: [number, number] | null;
}

/** The highest value that the linear axis must show. */
export function highest(spec: PanelSpec, hidden: ReadonlySet<number>): number {
  return Math.max(0, ...values(spec, hidden), ...spec.lines.flatMap((l) => l.points.map(([, y]) => y)));
}

/** The lowest value above zero, where a logarithmic axis begins. */
export function lowest(spec: PanelSpec, hidden: ReadonlySet<number>): number {
  return Math.min(...values(spec, hidden).filter((y) => y > 0));
}

function values(spec: PanelSpec, hidden: ReadonlySet<number>): number[] {
  return spec.curves
    .filter((curve) => !hidden.has(curve.subject))
    .flatMap((curve) => [
      ...curve.points.flatMap((p) => (p ? [p.estimate.value, ...(p.estimate.ci ?? [])] : [])),
      ...curve.repeats.map((r) => r.y),
      ...curve.excluded.flatMap((e) => (e.y === null ? [] : [e.y])),
    ]);
}
