import type { Conclusion, ExperimentReport } from '../report.ts';
import { h } from '../dom.ts';
import { moment, unbroken } from '../format.ts';

/** What came out, in words and in a few figures, before anything else. */
export function opening(report: ExperimentReport): HTMLElement {
  const { verdict, server } = report;
  return head(
    `${report.title} · ${serverName(server)} · ${moment(report.started)}`,
    verdict,
    warnings(report),
  );
}

/** The head of any report: what it is of, the verdict, what to beware of, the few figures. */
export function head(subject: string, verdict: Conclusion, warnings: string[]): HTMLElement {
  return h(
    'header',
    { class: 'opening' },
    h('p', { class: 'overline' }, 'Headworks report'),
    h('p', { class: 'subject' }, subject),
    h('h1', {}, unbroken(verdict.headline)),
    h('div', { class: 'lead' }, ...verdict.details.map((sentence) => h('p', {}, unbroken(sentence)))),
    warnings.length > 0 &&
      h('div', { class: 'warning', role: 'note' }, ...warnings.map((sentence) => h('p', {}, sentence))),
    verdict.figures.length > 0 &&
      h(
        'dl',
        { class: 'key-figures' },
        ...verdict.figures.map((figure) =>
          h(
            'div',
            {},
            h('dt', {}, figure.label),
            h('dd', { class: 'value' }, unbroken(figure.value)),
            h('dd', { class: 'note' }, unbroken(figure.note)),
          ),
        ),
      ),
  );
}

/** Kind and version, the kind once. */
function serverName({ kind, version }: ExperimentReport['server']): string {
  if (version === '') return kind;
  return version.toLowerCase().includes(kind) ? version : `${kind} (${version})`;
}

function warnings(report: ExperimentReport): string[] {
  const lost = report.tests.filter((test) => test.state !== 'measured');
  return [
    report.interrupted &&
      'The experiment was stopped before its end; this is what had been measured by then.',
    !report.interrupted &&
      report.ended === null &&
      'The experiment has not ended; this is what has been measured so far.',
    lost.length > 0 &&
      `${lost.length} of ${report.tests.length} tests do not count and are in no figure or average: ${lost
        .map((test) => `${test.directory} (${test.state})`)
        .join(', ')}.`,
  ].filter((sentence) => typeof sentence === 'string');
}
