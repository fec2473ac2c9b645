import { h } from '../dom.ts';
import { facts, sources } from '../page/method.ts';
import type { RunReport } from '../report.ts';
import { scrollingTable } from '../table/table.ts';
import { quantity } from '../table/cell.ts';

/** How the figures came about, for a reader who wants to doubt or to repeat them. */
export function method(report: RunReport): HTMLElement {
  return h(
    'section',
    { id: 'method', 'aria-labelledby': 'method-title' },
    h('h2', { id: 'method-title' }, 'How it was measured'),
    facts(report.method),
    ...sources(report.sources),
    ...counters(report),
    h('h3', {}, 'Raw data'),
    h(
      'p',
      { class: 'hint' },
      'Beside this file: Parquet for DuckDB or pandas, one row for each request, session and sample; the rest is text.',
    ),
    h('p', {}, ...report.files.map((file) => h('a', { class: 'file', href: encodeURI(file) }, file))),
  );
}

const MEANINGS: Record<string, string> = {
  ListenOverflows: 'connections that found an accept queue full',
  ListenDrops: 'connections dropped at a listening socket, for any reason',
  TCPReqQFullDrop: 'SYNs dropped because a SYN queue was full',
  TCPReqQFullDoCookies: 'SYNs answered with a cookie because a SYN queue was full',
  SyncookiesSent: 'SYN cookies sent',
  TCPSynRetrans: 'SYNs and their answers sent again',
  TCPTimeouts: 'retransmission timers that ran out',
  TCPBacklogDrop: 'segments dropped because a socket’s backlog was full',
  TCPAbortOnTimeout: 'connections given up after too many retransmissions',
  TCPAbortOnMemory: 'connections given up for want of memory',
  ActiveOpens: 'connections begun from this host',
  PassiveOpens: 'connections accepted on this host',
  AttemptFails: 'handshakes that failed',
  EstabResets: 'connections reset',
  RetransSegs: 'segments sent again',
  OutRsts: 'resets sent',
};

function counters(report: RunReport): HTMLElement[] {
  if (report.counters.length === 0) return [];
  const rows = report.counters.map(([name, rise]) =>
    h(
      'tr',
      {},
      h('th', { scope: 'row' }, h('code', {}, name)),
      quantity(rise, 'count', 'main'),
      h('td', { class: 'words' }, MEANINGS[name] ?? ''),
    ),
  );
  return [
    h('h3', {}, 'What the kernel counted'),
    h(
      'p',
      { class: 'hint' },
      'By how much counters of the generator’s host rose during the run, whoever caused it; the server’s are among them where it runs on the same host.',
    ),
    scrollingTable('Kernel counters', [{ words: 'Counter' }, 'Rise', { words: 'Meaning' }], rows),
  ];
}
