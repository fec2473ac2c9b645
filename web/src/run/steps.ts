import { figure } from '../chart/figure.ts';
import type { Curve, PanelSpec } from '../chart/spec.ts';
import type { Estimate, RunReport, Step, StepPhase } from '../report.ts';
import { h } from '../dom.ts';
import { count, interval, perSecond, plain, seconds, setting } from '../format.ts';
import { scrollingTable } from '../table/table.ts';
import { ends, quantity, quantityWith, cellOf, part } from '../table/cell.ts';

const PAPER = 'Shin, Koh and Won, Measurement and Analysis of Web Server Response Time';

/** What the paper shows in its figures 2 to 9; without a ramp there is one row and no figure. */
export function steps(report: RunReport): HTMLElement {
  const { ramp } = report.steps;
  return h(
    'section',
    { id: 'steps', 'aria-labelledby': 'steps-title' },
    h('h2', { id: 'steps-title' }, ramp ? 'Under rising load' : 'The phases at this load'),
    h(
      'p',
      { class: 'hint' },
      ramp
        ? 'The phases of the response time against the load, as '
        : 'What would be one point of each figure in ',
      h('cite', {}, PAPER),
      ramp
        ? ' shows them. Bars are 95\u00a0% intervals of the mean.'
        : '; a run with --ramp draws the curves.',
    ),
    ...(ramp ? figures(report) : []),
    h('h3', {}, ramp ? 'Step by step' : 'As a table'),
    table(report),
  );
}

function figures(report: RunReport): HTMLElement[] {
  const told = report.steps.rows.some((step) => step.server.mean);
  return [
    one(report, {
      id: 'connecting',
      title: 'How long did connecting take?',
      yLabel: 'Mean connection time',
      curves: [{ name: 'connecting', of: (step) => step.connect }],
      caption:
        'From the first SYN to the connection. It is the work of the server’s kernel alone, and grows with it, until SYNs are lost because a queue is full: each that is sent again costs a second and more, and the mean leaps. ',
      paper:
        'Figures 2 and 4: the mean grew faster than the number of clients, above all from 800 clients on, where handshakes met timeouts; a SYN queue of 1024 instead of 128 made it much shorter, but not straight.',
    }),
    timeouts(report),
    one(report, {
      id: 'processing',
      title: told
        ? 'How long did processing take, and how long in the server itself?'
        : 'How long did processing take?',
      yLabel: 'Mean processing time',
      curves: [
        { name: 'processing', of: (step) => step.processing },
        ...(told ? [{ name: 'by the server’s own account', of: (step: Step) => step.server }] : []),
      ],
      caption: `From the request written to the first byte of the response: waiting to be accepted, and the work. ${
        told
          ? 'The second line is what the server says that it worked; the distance between the two is waiting, in its queues and for its processor. '
          : 'A server that sends Server-Timing has its own time drawn beside it; this one did not. '
      }`,
      paper:
        'Figures 6 and 7: the time inside the server grew in a straight line with the number of clients, the whole much faster: waiting to be accepted grew most. With an accept queue of 1024 the whole was less than half as long, and still not straight.',
    }),
    one(report, {
      id: 'transmission',
      title: 'How long did transmission take?',
      yLabel: 'Mean transfer time',
      curves: [{ name: 'transfer', of: (step) => step.transfer }],
      caption:
        'From the first byte of the response to the last. It depends on the size of what was asked for, on the network, and on whether it came from memory or from a disk. ',
      paper:
        'Figures 8 and 9: it grew faster than the number of clients; with enough memory for all files it was 30\u00a0% shorter, and grew in the same way.',
    }),
  ];
}

interface One {
  id: string;
  title: string;
  yLabel: string;
  curves: { name: string; of: (step: Step) => StepPhase }[];
  caption: string;
  paper: string;
}

function one(report: RunReport, { id, title, yLabel, curves, caption, paper }: One): HTMLElement {
  const { rows } = report.steps;
  const panel: PanelSpec = {
    ...frame(report),
    title,
    yLabel,
    unit: 'seconds',
    curves: curves.map(({ name, of }, i) =>
      curve(name, 1 - i, rows, (step) => {
        const { mean, quantiles } = of(step);
        const spread = `median ${seconds(quantiles.p50)}, 90th percentile ${seconds(quantiles.p90)}, of ${count(quantiles.count)}`;
        return { estimate: mean, counts: spread };
      }),
    ),
  };
  const subjects = curves.length > 1 ? curves.map(({ name }) => name).reverse() : [];
  return figure({
    id,
    title,
    subjects,
    panels: [panel],
    logarithmic: 'on request',
    caption: [caption, said(paper)],
  });
}

function timeouts(report: RunReport): HTMLElement {
  const panel: PanelSpec = {
    ...frame(report),
    title: 'Connections that met a timeout',
    yLabel: 'Share of connections',
    unit: 'percent',
    curves: [
      curve('met a timeout', 1, report.steps.rows, (step) => ({
        estimate: step.timeouts,
        counts: `${count(step.timed_out)} of ${count(step.connections)} connections`,
      })),
    ],
  };
  return figure({
    id: 'timeouts',
    title: 'How many connections met a timeout?',
    subjects: [],
    panels: [panel],
    caption: [
      'The share of connections whose SYN had to be sent again because nothing had answered it in time. ',
      said(
        'Figures 3 and 5: from about 800 clients on, handshakes met timeouts, ever more of them; with a SYN queue of 1024 instead of 128 there were far fewer.',
      ),
    ],
  });
}

function said(what: string): HTMLElement {
  return h('span', { class: 'said' }, h('strong', {}, 'In the paper: '), what);
}

function frame(report: RunReport): Pick<PanelSpec, 'levels' | 'xLabel' | 'overload' | 'lines'> {
  const { unit, rows } = report.steps;
  return {
    xLabel: unit === 'clients' ? 'Number of clients' : `Offered load, ${unit}`,
    overload: null,
    lines: [],
    levels: rows.map((step) => ({
      x: step.level,
      tick: plain(step.level),
      underTick: '',
      words: `${plain(step.level)} ${unit}, ${perSecond(step.achieved)} answered`,
    })),
  };
}

function curve(
  name: string,
  subject: number,
  rows: Step[],
  of: (step: Step) => { estimate: Estimate | null; counts: string },
): Curve {
  const points = rows.map((step) => {
    const { estimate, counts } = of(step);
    return estimate && { estimate, counts };
  });
  return { name, subject, points, repeats: [], excluded: [] };
}

/** Where requests belong to sessions: how many started, and what came of them. */
function sessionCells({ sessions }: Step, ofSessions: boolean): HTMLTableCellElement[] {
  if (!ofSessions) return [];
  const completion = sessions?.completion;
  return [
    quantity(sessions?.offered ?? 0, 'rate'),
    quantity(sessions?.achieved ?? 0, 'rate', 'main'),
    quantityWith(
      completion ? part(completion.value, 'percent') : null,
      completion ? ends(completion, 'percent') : [],
      sessions
        ? h('small', { class: 'under' }, `${count(sessions.completed)} of ${count(sessions.started)}`)
        : null,
    ),
  ];
}

function table({ steps: { unit, rows: levels, each, held } }: RunReport): HTMLElement {
  const rows = each.length > 0 ? each : levels;
  const ofSessions = rows.some((step) => step.sessions);
  const told = rows.some((step) => step.server.mean);
  const phases = (step: Step): StepPhase[] => [
    step.connect,
    step.processing,
    ...(told ? [step.server] : []),
    step.transfer,
    step.total,
  ];
  const since = (index: number): HTMLElement | null =>
    each.length > 0 ? h('small', { class: 'under' }, `from ${setting(held[index]?.from ?? 0)}`) : null;
  const cells = rows.map((step, index) =>
    h(
      'tr',
      {},
      h('th', { scope: 'row' }, `${plain(Number(step.level.toPrecision(4)))} ${unit}`, since(index)),
      cellOf([part(step.seconds, 'seconds')], '', setting(step.seconds)),
      ...sessionCells(step, ofSessions),
      quantity(step.offered, 'rate'),
      quantity(step.achieved, 'rate', 'main'),
      quantityWith(
        step.timeouts && part(step.timeouts.value, 'percent'),
        [part(step.timed_out, 'count', 'timed out'), part(step.connections, 'count', 'connections')],
        h('small', { class: 'under' }, `${count(step.timed_out)} of ${count(step.connections)}`),
      ),
      ...phases(step).map(({ mean }) =>
        quantityWith(
          mean && part(mean.value, 'seconds'),
          mean ? ends(mean, 'seconds') : [],
          mean?.ci ? h('small', { class: 'under' }, interval(mean, seconds)) : null,
        ),
      ),
    ),
  );
  return scrollingTable(
    'Steps',
    [
      { words: 'Level' },
      'Held',
      ...(ofSessions ? ['Sessions due', 'Completed per second', 'Completed'] : []),
      ofSessions ? 'Requests due' : 'Due',
      'Answered',
      'SYN timeouts',
      'Connecting',
      'Processing',
      ...(told ? ['In the server'] : []),
      'Transfer',
      'In all',
    ],
    cells,
  );
}
