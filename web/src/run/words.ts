import { glossary } from '../page/words.ts';
import type { RunReport } from '../report.ts';

/** The terms of this page, for a reader who meets them for the first time. */
export function words(report: RunReport): HTMLElement {
  return glossary([
    [
      'Due, begun',
      'A schedule says when a request is due; it is begun when the generator starts on it. Latency in all counts from when it was due, so that a server that holds up the generator cannot hide it. Without a schedule, in a closed loop, both are the same.',
    ],
    [
      'Waiting to begin',
      'From when it was due to when work on it began: for one of the connections that there may be, or for the generator. Waits below a millisecond are not shown.',
    ],
    ['Connecting', 'From the first SYN to the connection; only requests that opened one count.'],
    ['Sending the body', 'From the first byte of a request that has a body to the last that was on its way.'],
    ['Processing', 'From the request written to the first byte of the response.'],
    ['Transfer', 'From the first byte of the response to the last; 0 where all of it came at once.'],
    [
      'SYN sent again',
      'The first packet of a connection got no answer, mostly because a queue of the server was full. Linux sends it again after one second, then after two, four and so on, so connecting takes 1 s, 3 s, 7 s.',
    ],
    [
      'Cut off',
      'By the timeout or the end of the run. It is in the figures with the time it had lasted, which is less than it would have taken; other failures have no latency and are counted apart.',
    ],
    [
      'Percentile',
      'The 99th percentile is the time that 99 of 100 requests did not exceed. Over time and at the steps it is exact to 1\u00a0%, in the table of phases to 0.1\u00a0%.',
    ],
    ...(report.unit === 'sessions'
      ? ([
          [
            'Session',
            'One user’s visit: pages with everything embedded in them, and pauses in which the user reads. It is completed when every request got a proper response in time; its duration leaves the pauses out.',
          ],
        ] as [string, string][])
      : []),
    [
      'Not valid',
      'The generator, not the server, set the figures: it was short of processor time, of ports or of descriptors, or late behind its own schedule.',
    ],
    [
      '95\u00a0% interval',
      'Where the true figure lies, but for one time in twenty, if requests fare independently of each other. Under overload they do not, so it says the least that one may doubt.',
    ],
  ]);
}
