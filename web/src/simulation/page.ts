import { h } from '../dom.ts';
import { unbroken } from '../format.ts';
import { facts, sources } from '../page/method.ts';
import { head } from '../page/opening.ts';
import { glossary } from '../page/words.ts';
import type { View } from '../view.ts';
import { overTime } from './course.ts';
import type { Check, SimulationReport } from '../report.ts';
import { scrollingTable } from '../table/table.ts';
import { simulated } from './figures.ts';
import { outcomes } from './outcomes.ts';

export function simulation(report: SimulationReport): View {
  const parts: [string, HTMLElement | null][] = [
    ['Statements', statements(report.checks)],
    ['Outcome', outcomes(report.outcomes)],
    ['Over time', report.course && overTime(report.course)],
    ['Figures', figures(report)],
    ['Method', method(report)],
    ['Words', words()],
  ];
  const shown = parts.flatMap(([name, root]): [string, HTMLElement][] => (root ? [[name, root]] : []));
  return {
    title: report.title,
    version: report.version,
    opening: head(`${report.title} · simulated`, report.verdict, report.warnings),
    contents: shown.map(([name, root]) => [root.id, name]),
    sections: shown.map(([, root]) => root),
  };
}

function statements(checks: Check[]): HTMLElement | null {
  if (checks.length === 0) return null;
  const rows = checks.map(({ place, statement, holds, evidence }) =>
    h(
      'tr',
      {},
      h('th', { scope: 'row' }, place),
      h('td', { class: 'words' }, unbroken(statement)),
      h('td', { class: holds ? 'held' : 'missed' }, holds ? 'holds' : 'does not'),
      h('td', { class: 'words' }, unbroken(evidence)),
    ),
  );
  return h(
    'section',
    { id: 'statements', 'aria-labelledby': 'statements-title' },
    h('h2', { id: 'statements-title' }, 'What the paper says, and whether it holds'),
    h(
      'p',
      { class: 'hint' },
      'In our words; the bound that makes each statement a check stands with it. Iyengar, MacNair and Nguyen, ',
      h('cite', {}, 'Web server performance under heavy loads'),
      '.',
    ),
    scrollingTable(
      'Statements',
      [{ words: 'Where' }, { words: 'Statement' }, { words: 'Holds' }, { words: 'What came out' }],
      rows,
    ),
  );
}

function figures(report: SimulationReport): HTMLElement | null {
  if (report.figures.length === 0) return null;
  return h(
    'section',
    { id: 'figures', 'aria-labelledby': 'figures-title' },
    h('h2', { id: 'figures-title' }, 'What was simulated'),
    h(
      'p',
      { class: 'hint' },
      'Shaded bands are 95\u00a0% intervals; where there is none to be seen it is narrower than the line. Drag over a plot to zoom, double-click to see all of it again.',
    ),
    ...report.figures.map((figure) =>
      simulated(
        figure,
        report.checks.filter((check) => speaksOf(check.place, figure.place)),
      ),
    ),
  );
}

/** Whether a place such as `Figures 2, 3 and 6` names this figure. */
function speaksOf(places: string, figure: string): boolean {
  if (figure === '' || !figure.startsWith('Figure ')) return false;
  const numbers: string[] = places.startsWith('Figure') ? (places.match(/\d+/g) ?? []) : [];
  return numbers.includes(figure.slice('Figure '.length));
}

function method(report: SimulationReport): HTMLElement {
  return h(
    'section',
    { id: 'method', 'aria-labelledby': 'method-title' },
    h('h2', { id: 'method-title' }, 'How it was simulated'),
    facts(report.method),
    ...sources(report.sources),
  );
}

function words(): HTMLElement {
  return glossary([
    [
      'Latency',
      'From the arrival of a request to its completion, waiting included, of requests that were not rejected.',
    ],
    ['Rejected', 'Turned away at arrival because all threads were taken and the queue was full.'],
    ['Load, r', 'Requests that come per second over those that the server can serve.'],
    [
      'c_v',
      'Coefficient of variation of the times between arrivals: standard deviation over mean. 1 is a Poisson process; above that arrivals come in bursts (hyperexponential with balanced means).',
    ],
    ['Replication', 'The same model once more, with other random numbers.'],
    [
      'Warm-up',
      'The beginning of a replication, when the server is still emptier than it will be; it is not counted.',
    ],
    ['90th percentile', 'The latency that nine of ten served requests do not exceed.'],
  ]);
}
