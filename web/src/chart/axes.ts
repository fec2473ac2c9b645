import type uPlot from 'uplot';
import { themed } from './palette.ts';
import type { BandsSpec } from './bands.ts';
import type { DotsSpec } from './dots.ts';
import type { PanelSpec } from './spec.ts';
import type { TraceSpec } from './trace.ts';
import type { Unit } from '../report.ts';
import { marks } from '../units.ts';

/** How much larger than usual the page's type is, as on a wall: what is drawn on a canvas follows. */
export function enlarged(): number {
  return Math.max(1, parseFloat(getComputedStyle(document.documentElement).fontSize) / 16);
}

/** Of everything that is written on a canvas. */
export function font(): string {
  return `${12 * enlarged()}px "Inter Variable", system-ui, sans-serif`;
}

function common(label: string): uPlot.Axis {
  return {
    label,
    labelFont: font(),
    font: font(),
    stroke: () => themed('--ink-soft'),
    grid: { stroke: () => themed('--grid'), width: 1 },
    ticks: { show: false },
  };
}

/** Ticks stand at the levels that were run, nowhere else. */
export function xAxis(spec: PanelSpec): uPlot.Axis {
  return {
    ...common(spec.xLabel),
    // The library asks once before there are labels.
    size: (_plot, labels: string[] | null) =>
      (labels?.some((label) => label.includes('\n')) ? 44 : 28) * enlarged(),
    labelSize: 22 * enlarged(),
    grid: { show: false },
    splits: (_plot, _axis, min, max) => spec.levels.map((l) => l.x).filter((x) => x >= min && x <= max),
    values: (plot, splits) => {
      const position = splits.map((x) => plot.valToPos(x, 'x'));
      const gap = Math.min(...position.slice(1).map((p, i) => p - (position[i] ?? 0)), Infinity);
      let drawnTo = -Infinity;
      return splits.map((x, i) => {
        const at = position[i] ?? 0;
        const level = spec.levels.find((l) => l.x === x);
        // A label that would run into the one before it is left out.
        const half = (level?.tick.length ?? 0) * 3.5 * enlarged();
        if (!level || at - half < drawnTo + 4) return '';
        drawnTo = at + half;
        return gap >= 40 && level.underTick ? `${level.tick}\n${level.underTick}` : level.tick;
      });
    },
  };
}

/** The labels less those that would run into the one before them or off the plot; none begins before `from`. */
function spaced(plot: uPlot, splits: number[], labels: string[], from = -Infinity): string[] {
  const end = plot.valToPos(plot.scales.x?.max ?? 0, 'x');
  let drawnTo = from;
  return splits.map((x, i) => {
    const at = plot.valToPos(x, 'x');
    const label = labels[i] ?? '';
    const half = label.length * 3.5 * enlarged();
    if (at - half < drawnTo + 4 || at + half > end + 16) return '';
    drawnTo = at + half;
    return label;
  });
}

/** Steps in seconds that a clock has. */
const CLOCK = [1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1200, 1800, 3600, 7200, 18_000, 36_000, 86_400];

/** Even steps, or the marks that the trace asks for. */
export function traceXAxis(spec: TraceSpec): uPlot.Axis {
  const axis: uPlot.Axis = {
    ...common(spec.xLabel),
    size: 28 * enlarged(),
    labelSize: 22 * enlarged(),
    grid: { show: false },
    space: 64 * enlarged(),
    // A time of the day is long enough to reach under the lowest mark of the y axis.
    values: (plot, splits) => spaced(plot, splits, spec.xTicks(splits), spec.byTheClock ? -4 : -Infinity),
  };
  const { splits } = spec;
  if (spec.byTheClock) axis.incrs = [...CLOCK, ...[2, 5, 10, 20, 50, 100, 1000].map((days) => days * 86_400)];
  if (splits) axis.splits = (_plot, _axis, min, max) => splits.filter((x) => x >= min && x <= max);
  return axis;
}

export function bandsXAxis(spec: BandsSpec): uPlot.Axis {
  const axis: uPlot.Axis = {
    ...common(spec.xLabel),
    size: 28 * enlarged(),
    labelSize: 22 * enlarged(),
    grid: { show: false },
    space: 56 * enlarged(),
    values: (plot, splits) => spaced(plot, splits, spec.xTicks(splits)),
  };
  if (spec.xLogarithmic) {
    axis.splits = (_plot, _axis, min, max) => decades(min, max);
    axis.filter = (_plot, splits) => splits;
  }
  return axis;
}

export function dotsXAxis(spec: DotsSpec): uPlot.Axis {
  return {
    ...common(spec.xLabel),
    size: 28 * enlarged(),
    labelSize: 22 * enlarged(),
    grid: { show: false },
    splits: (_plot, _axis, min, max) => decades(min, max),
    filter: (_plot, splits) => splits,
    values: (_plot, splits) => spec.xTicks(splits),
  };
}

/** What an axis up the side has to say. */
interface Upright {
  yLabel: string;
  unit: Unit;
  /** Its marks, where they are not those of the unit. */
  ticks?: (ys: number[]) => string[];
}

export function yAxis(spec: Upright, logarithmic: boolean): uPlot.Axis {
  const ticks = spec.ticks ?? marks(spec.unit);
  const axis: uPlot.Axis = {
    ...common(spec.yLabel),
    size: 58 * enlarged(),
    labelSize: 22 * enlarged(),
    values: (_plot, splits) => ticks(splits),
  };
  if (logarithmic) {
    axis.splits = (_plot, _axis, min, max) => decades(min, max);
    axis.filter = (_plot, splits) => splits;
  }
  return axis;
}

/** As [`logarithmicSplits`], but only whole decades where there are many. */
function decades(min: number, max: number): number[] {
  const splits = logarithmicSplits(min, max);
  const whole = splits.filter((x) => /^1(e|0*$)|^0\.0*1$/.test(String(x)));
  return splits.length > 9 && whole.length > 1 ? whole : splits;
}

/** 1, 2 and 5 times the powers of ten within the span; even steps when it is too short for two of them, or has no powers. */
export function logarithmicSplits(min: number, max: number): number[] {
  const splits: number[] = [];
  if (!(min > 0 && max < Infinity)) return even(min, max);
  for (let decade = Math.floor(Math.log10(min)); decade <= Math.ceil(Math.log10(max)); decade += 1) {
    for (const step of [1, 2, 5]) {
      const split = Number(`${step}e${decade}`);
      if (split >= min && split <= max) splits.push(split);
    }
  }
  return splits.length >= 2 ? splits : even(min, max);
}

/** Multiples of a round step, of which there are three to nine within the span. */
function even(min: number, max: number): number[] {
  if (!Number.isFinite(max - min)) return [];
  const finest = (max - min) / 8;
  const power = 10 ** Math.floor(Math.log10(finest));
  const step = ([1, 2, 5, 10].find((factor) => factor * power >= finest) ?? 10) * power;
  const splits: number[] = [];
  // What is at an end but for rounding is within.
  const [first, last] = [Math.ceil(min / step - 1e-9), Math.floor(max / step + 1e-9)];
  for (let i = first; i <= last; i += 1) splits.push(Number((i * step).toPrecision(12)));
  return splits;
}
