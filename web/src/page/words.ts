import type { ExperimentReport } from '../report.ts';
import { isRelativeLoad } from './relative.ts';
import { h } from '../dom.ts';

/** The terms of this page, for a reader who meets them for the first time. */
export function words(report: ExperimentReport): HTMLElement {
  const entries: [string, string][] = [
    [
      'Session',
      'One user’s visit: a fixed series of pages with everything embedded in them, and pauses in which the user reads.',
    ],
    [
      'Session completed',
      'Every request of the session got a proper response in time. A single refusal, error or timeout fails the whole session, as it would fail the user.',
    ],
    [
      'Offered load',
      'Sessions that set out per second. They set out by the clock, whether or not the server keeps up, as users do; a generator that waits for the server would hide the overload.',
    ],
    ...(isRelativeLoad(report)
      ? ([
          [
            'Capacity',
            'The most sessions per second that the server completed on its own, found before the tests. 2× capacity offers twice as many.',
          ],
        ] as [string, string][])
      : []),
    ...subjects(report),
    [
      'Class',
      'What a session belongs to from its first request on. The first class listed is the most important one.',
    ],
    [
      'Duration',
      'From the first request of a session to the end of its last response, less the user’s pauses; of completed sessions only. The median is the middle one: half took longer.',
    ],
    [
      '95 % interval',
      'Where the true figure lies, but for one time in twenty, if sessions fare independently of one another. For shares after Wilson, for medians and percentiles from the order of the observations, for means from their spread. Under overload sessions do affect each other, so differences between repeats say more.',
    ],
    [
      'Broken, not valid',
      'A broken test died or left incomplete files; in one that is not valid, the load generator or a change of the machine made the figures. Neither enters any figure or average on this page.',
    ],
  ];
  return glossary(entries);
}

export function glossary(entries: [string, string][]): HTMLElement {
  return h(
    'section',
    { id: 'words', 'aria-labelledby': 'words-title' },
    h('h2', { id: 'words-title' }, 'What the words mean'),
    h(
      'dl',
      { class: 'words-list' },
      ...entries.map(([term, meaning]) => h('div', {}, h('dt', {}, term), h('dd', {}, meaning))),
    ),
  );
}

function subjects(report: ExperimentReport): [string, string][] {
  const known: Record<string, string> = {
    bare: 'Clients talk to the server directly.',
    gate: 'Clients talk to Headworks’ gate, which lets through what the server can carry, the most important sessions first, and answers the others at once with a refusal (503).',
    haproxy:
      'Clients talk to HAProxy, which lets so many requests into the server at once, keeps the others waiting in an order of priority, and refuses those that have waited too long.',
    nginx:
      'Clients talk to nginx, which lets every request of the first class through, of the others so many at once, and refuses the rest.',
    mod_qos:
      'Clients talk to Apache with mod_qos, which lets every request of the first class through, of the others so many at once, and refuses the rest.',
  };
  // What follows a comma are settings.
  const names = new Set(report.subjects.map((name) => name.split(',')[0] ?? name));
  return [...names].flatMap((name): [string, string][] => {
    const meaning = known[name];
    return meaning ? [[name, meaning]] : [];
  });
}
