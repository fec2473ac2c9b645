import { figure } from '../chart/figure.ts';
import type { PanelSpec, ReferenceLine } from '../chart/spec.ts';
import type { ExperimentReport } from '../report.ts';
import { isRelativeLoad } from './relative.ts';
import { h } from '../dom.ts';
import { count, perSecond, plain, seconds } from '../format.ts';
import { curves, frame } from './curves.ts';

const PAPER = 'Bhoj, Ramanathan and Singhal, Web2K: Bringing QoS to Web Servers, HPL-2000-61, 2000';

/** The three figures, in the order of the paper. */
export function figures(report: ExperimentReport): HTMLElement {
  return h(
    'section',
    { id: 'figures', 'aria-labelledby': 'figures-title' },
    h('h2', { id: 'figures-title' }, 'What was measured'),
    h(
      'p',
      { class: 'hint' },
      'Drag over a plot to zoom, double-click to see all of it again. Bars are 95\u00a0% intervals',
      report.tests.some((test) => test.repeat > 1) ? ', small dots single repeats' : '',
      report.tests.some((test) => test.state !== 'measured')
        ? ', crosses tests that do not count (see the list of tests)'
        : '',
      '.',
    ),
    completion(report),
    duration(report, 'median'),
    duration(report, 'mean'),
    goodput(report),
  );
}

function repeats(figures: string): HTMLElement {
  return h('span', { class: 'repeats' }, `Repeats figures ${figures} of ${PAPER}.`);
}

function completion(report: ExperimentReport): HTMLElement {
  const panels = report.classes.map((group, i): PanelSpec => {
    const name = group.name;
    return {
      ...frame(report),
      title: panelTitle(report, i),
      yLabel: 'Sessions completed',
      ySpan: [-0.03, 1.04],
      unit: 'percent',
      lines: [],
      curves: curves(
        report,
        (point) => {
          const found = point.classes.find((c) => c.name === name);
          return {
            estimate: found?.share ?? null,
            counts: found ? `${count(found.completed)} of ${count(found.started)} sessions` : '',
          };
        },
        (test) => test.classes.find((c) => c.name === name)?.share ?? null,
      ),
    };
  });
  return figure({
    id: 'completed',
    title: 'How many sessions got through?',
    subjects: report.subjects,
    panels,
    caption: [
      'The share of sessions whose every request succeeded, class by class. A server on its own fails everyone alike as the load passes what it can carry; ' +
        'one that knows its classes should keep the first of them near 100\u00a0% and let the others give way. ',
      repeats('5, 7 and 11'),
    ],
  });
}

/** The paper shows means; the median is what half of the users had, whatever befell the slowest. */
function duration(report: ExperimentReport, which: 'median' | 'mean'): HTMLElement {
  const mean = which === 'mean';
  const panels = report.classes.map((group, i): PanelSpec => {
    const name = group.name;
    return {
      ...frame(report),
      title: panelTitle(report, i),
      yLabel: `${mean ? 'Mean' : 'Median'} session duration`,
      unit: 'seconds',
      lines: [],
      curves: curves(
        report,
        (point) => {
          const found = point.classes.find((c) => c.name === name)?.duration ?? null;
          const other = mean ? 'median' : 'mean';
          return {
            estimate: found?.[which] ?? null,
            counts: found
              ? `${count(found.count)} completed; ${other} ${seconds(found[other].value)}, 90th percentile ${seconds(found.p90.value)}`
              : '',
          };
        },
        (test) => test.classes.find((c) => c.name === name)?.[which] ?? null,
      ),
    };
  });
  return figure({
    id: mean ? 'mean' : 'duration',
    title: mean ? 'And on average?' : 'How long did a session take?',
    subjects: report.subjects,
    panels,
    logarithmic: 'on request',
    caption: mean
      ? ['The mean of the same times, which a few very slow sessions can raise. ', repeats('6, 8 and 12')]
      : [
          'The median time that completed sessions spent waiting, the pauses of the users taken out. Only sessions that completed count, ' +
            'so read it beside the figure above: where most sessions fail, the few that are left can look quick.',
        ],
  });
}

function goodput(report: ExperimentReport): HTMLElement {
  const panel: PanelSpec = {
    ...frame(report),
    title: 'All classes together',
    yLabel: 'Completed sessions per second',
    unit: 'number',
    lines: referenceLines(report),
    curves: curves(
      report,
      (point) => ({
        estimate: point.goodput,
        counts: `${count(point.completed_inside)} sessions in ${seconds(point.window)}`,
      }),
      (test) => test.goodput,
    ),
  };
  return figure({
    id: 'goodput',
    title: 'How much work was done in all?',
    subjects: report.subjects,
    panels: [panel],
    caption: [
      'Sessions of every class completed per second. The ideal follows the offered load up to capacity and stays there. ' +
        'Below capacity, the distance between two curves is what standing in front of the server costs; ' +
        'above it, a curve that falls is a server that wastes its work on sessions which then fail. ',
      repeats('9, 10 and 13'),
    ],
  });
}

/** What could be had at best, where the levels are loads relative to a known capacity. */
function referenceLines(report: ExperimentReport): ReferenceLine[] {
  const { capacity } = report;
  if (!capacity || !isRelativeLoad(report)) return [];
  const { value, ci } = capacity.rate;
  const highest = Math.max(...report.factor.levels, 1) * 1.5;
  return [
    {
      name: `capacity, ${perSecond(value)}`,
      dash: [2, 3],
      band: ci,
      points: [
        [0, value],
        [highest, value],
      ],
    },
    {
      name: 'ideal',
      dash: [],
      points: [
        [0, 0],
        [1, value],
        [highest, value],
      ],
    },
  ];
}

function panelTitle(report: ExperimentReport, index: number): string {
  const group = report.classes[index];
  if (!group) return '';
  const letter = report.classes.length > 1 ? `(${String.fromCharCode(97 + index)}) ` : '';
  return `${letter}${group.name}, ${part(report, group)}`;
}

/** What of the load a class is. */
function part(report: ExperimentReport, { load, share }: ExperimentReport['classes'][number]): string {
  if (load !== undefined) return `${plain(load)}× capacity at every level`;
  const held = report.classes.some((other) => other.load !== undefined);
  return held ? 'the rest of the load' : `${plain(share * 100)}\u00a0% of the load`;
}
