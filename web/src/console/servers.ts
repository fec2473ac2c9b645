import { h } from '../dom.ts';
import { serverFailures } from './counts.ts';
import { Keyed, section, setAttribute, setText, table } from './elements.ts';
import { icon } from './icon.ts';
import type { Desk, Part } from './part.ts';
import type { Severity, State } from './schemas.ts';
import { count, counted, duration, share } from './words.ts';

type Server = State['upstream']['servers'][number];

/** The gate counts from its start on, which says little of now: failures are also counted over this long, s. */
const LATELY = 300;

interface Row {
  server: Server;
  /** Failures of late. */
  failures: number;
}

const STANDING: Record<string, [Severity, string]> = {
  up: ['calm', 'up'],
  trial: ['notice', 'on trial'],
  ejected: ['warning', 'ejected'],
  ill: ['alarm', 'ill: fails its check'],
};

/** Health of the servers, and what the gate itself has left. */
export function servers({ store }: Desk): Part {
  const body = h('tbody');
  const rows = new Keyed<Row>(body, ({ server: { name, address } }) => `${name} ${address}`, row);
  const totals = h('p', { class: 'hint' });
  const gauges = [gauge('Connections'), gauge('Descriptors'), gauge('Pressure')];
  const root = section(
    'servers',
    'Servers and resources',
    table(
      'Servers',
      [
        'Server',
        'Standing',
        'Outstanding',
        'Requests',
        'Failures',
        `of the last ${duration(LATELY)}`,
        'Ejections',
        'Checks failed',
      ],
      body,
    ),
    totals,
    h('div', { class: 'gauges' }, ...gauges.map((one) => one.root)),
  );
  const render = (): void => {
    const { state } = store;
    if (!state) return;
    const { upstream, connections, pressure } = state;
    const before = store.counts.before(state, LATELY);
    rows.show(upstream.servers.map((server) => ({ server, failures: serverFailures(server, before) })));
    const failures = Object.entries(upstream.failures).filter(([, n]) => n > 0);
    const failed =
      failures.length > 0 ? failures.map(([kind, n]) => `${kind} ${count(n)}`).join(', ') : 'none';
    setText(
      totals,
      `Counted since the gate was started, unless it is said otherwise. Requests without a response: ${failed}. Sent once more, as a server had failed before it answered: ${count(upstream.retries)}; not sent again, for want of budget: ${count(upstream.retries_denied)}. WebSockets and other tunnels: ${count(upstream.tunnels.open)}.`,
    );
    const open = connections.clients + connections.upstream;
    gauges[0]?.show(
      open / Math.max(connections.most, 1),
      `${count(connections.clients)} of clients, ${count(connections.upstream)} of servers; at most ${count(connections.most)}`,
    );
    gauges[1]?.show(
      open / Math.max(connections.descriptor_limit, 1),
      `about ${count(open)} of ${counted(connections.descriptor_limit, 'descriptor')}`,
    );
    gauges[2]?.show(
      pressure,
      `${share(pressure)} of connections or memory, whichever is scarcer; from 80\u00a0% on new sessions are refused`,
    );
  };
  return { root, render };
}

function row({ server: first }: Row): { element: HTMLElement; update: (row: Row) => void } {
  const standing = h('td', { class: 'words standing' });
  const numbers = Array.from({ length: 6 }, () => h('td'));
  const name = first.name === first.address ? first.name : `${first.name} (${first.address})`;
  const element = h('tr', {}, h('th', { scope: 'row' }, name), standing, ...numbers);
  const update = ({ server, failures: lately }: Row): void => {
    if (standing.dataset.standing !== server.standing) {
      standing.dataset.standing = server.standing;
      const [severity, words] = STANDING[server.standing] ?? ['warning', server.standing];
      standing.replaceChildren(icon(severity), words);
      setAttribute(standing, 'data-severity', severity);
    }
    const { outstanding, requests, failures, ejections, checks } = server;
    [outstanding, requests, failures, lately, ejections, checks.failed].forEach((n, i) => {
      const cell = numbers[i];
      if (cell) setText(cell, count(n));
    });
  };
  return { element, update };
}

interface Gauge {
  root: HTMLElement;
  show: (used: number, words: string) => void;
}

function gauge(name: string): Gauge {
  const id = `gauge-${name.toLowerCase()}`;
  const meter = h('meter', { id, min: '0', max: '1', high: '0.8' });
  const words = h('span', { class: 'small' });
  return {
    root: h('div', { class: 'gauge' }, h('label', { for: id }, name), meter, words),
    show: (used, text) => {
      meter.value = Math.min(1, used);
      setText(words, text);
    },
  };
}
