import type { Curve, CurvePoint, Level, PanelSpec } from '../chart/spec.ts';
import type { Estimate, ExperimentReport, Point, Test } from '../report.ts';
import { isRelativeLoad } from './relative.ts';
import { level, levelInWords, plain } from '../format.ts';

/** The levels as every figure shows them, with the sessions per second that they stand for. */
export function levels(report: ExperimentReport): Level[] {
  const { unit } = report.factor;
  return [...new Set(report.factor.levels)]
    .sort((a, b) => a - b)
    .map((x) => {
      // Where the axis is not of the load, the load may differ between tests at the same level.
      const offered = isRelativeLoad(report)
        ? report.tests.find((test) => test.level === x)?.offered
        : undefined;
      const rounded = (digits: number): string => plain(Number((offered ?? 0).toPrecision(digits)));
      const under = offered === undefined ? '' : `${rounded(offered < 100 ? 2 : 3)}/s`;
      const words = levelInWords(x, unit);
      return {
        x,
        tick: isRelativeLoad(report) ? level(x, unit) : plain(x),
        underTick: under,
        words: offered === undefined ? words : `${words}, ${rounded(3)}/s offered`,
      };
    });
}

/** A curve per subject; the readings say what to take from a pooled point and from a single test. */
export function curves(
  report: ExperimentReport,
  pooled: (point: Point) => { estimate: Estimate | null; counts: string },
  single: (test: Test) => number | null,
): Curve[] {
  return report.subjects.map((name, subject) => {
    const tests = report.tests.filter((test) => test.subject === name);
    const points = levels(report).map(({ x }): CurvePoint | null => {
      const point = report.points.find((p) => p.subject === name && p.level === x);
      if (!point) return null;
      const { estimate, counts } = pooled(point);
      return estimate && { estimate, counts };
    });
    return {
      name,
      subject,
      points,
      repeats: tests
        .filter((test) => test.state === 'measured' && repeated(tests, test))
        .flatMap((test) => {
          const y = single(test);
          return y === null ? [] : [{ x: test.level, y }];
        }),
      excluded: tests
        .filter((test) => test.state !== 'measured')
        .map((test) => ({ x: test.level, y: single(test) })),
    };
  });
}

function repeated(tests: Test[], test: Test): boolean {
  return tests.filter((t) => t.level === test.level && t.state === 'measured').length > 1;
}

/** What the levels are of. */
export function axisName(report: ExperimentReport): string {
  return isRelativeLoad(report) ? 'Offered load' : report.factor.name;
}

/** What all panels of a report have in common. */
export function frame(report: ExperimentReport): Pick<PanelSpec, 'levels' | 'xLabel' | 'overload'> {
  const relative = isRelativeLoad(report);
  return {
    levels: levels(report),
    xLabel: relative
      ? `${axisName(report)}, in multiples of capacity`
      : `${axisName(report)}${report.factor.unit ? `, ${report.factor.unit}` : ''}`,
    overload: relative ? 1 : null,
  };
}
