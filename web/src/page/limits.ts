import type { ExperimentReport, Limit } from '../report.ts';
import { h } from '../dom.ts';
import { unbroken } from '../format.ts';
import { sentences } from './part.ts';

/** What was at its end with each subject, why that is known, and what to do; nothing where it was not judged. */
export function limits(report: ExperimentReport): HTMLElement | null {
  if (report.limits.length === 0) return null;
  return h(
    'section',
    { id: 'limits', 'aria-labelledby': 'limits-title' },
    h('h2', { id: 'limits-title' }, 'What sets the limit'),
    ...report.limits.flatMap(one),
  );
}

function one({ subject, limit, evidence, next }: Limit): HTMLElement[] {
  const what = limit.charAt(0).toUpperCase() + limit.slice(1);
  return [
    h('h3', {}, subject),
    h('p', {}, h('strong', {}, unbroken(`${what}.`))),
    ...sentences(labelled('Why', evidence)),
    ...sentences(labelled('What to do', next)),
  ];
}

function labelled(label: string, [first, ...others]: string[]): string[] {
  return first === undefined ? [] : [`${label}: ${first}`, ...others];
}
