import type { ExperimentReport, Fact, Source } from '../report.ts';
import { h } from '../dom.ts';
import { unbroken } from '../format.ts';
import { tests } from './tables.ts';

/** How the figures came about, for a reader who wants to doubt or to repeat them. */
export function method(report: ExperimentReport): HTMLElement {
  return h(
    'section',
    { id: 'method', 'aria-labelledby': 'method-title' },
    h('h2', { id: 'method-title' }, 'How it was measured'),
    facts(report.method),
    ...sources(report.sources),
    tests(report),
  );
}

export function facts(all: Fact[]): HTMLElement {
  return h(
    'dl',
    { class: 'facts' },
    ...all.map((fact) =>
      h(
        'div',
        {},
        h('dt', {}, fact.label),
        h('dd', {}, fact.command ? h('code', {}, fact.value) : unbroken(fact.value)),
      ),
    ),
  );
}

export function sources(all: Source[]): HTMLElement[] {
  return all.map((source) =>
    h('details', {}, h('summary', {}, source.name), h('pre', { tabindex: '0' }, source.text)),
  );
}
