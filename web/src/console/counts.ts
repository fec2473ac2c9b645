import type { ClassState, State } from './schemas.ts';

/** The gate counts from its start on; what counts here are the last minutes, s. */
const KEPT = 300;
/** No more often than that, s: a page of many servers stays small. */
const EVERY = 4;

type Server = State['upstream']['servers'][number];

/** What the gate has counted, as it was in the last minutes. */
export class Counts {
  private list: State[] = [];

  take(state: State): void {
    const last = this.list.at(-1);
    if (last && last.started !== state.started) this.list = [];
    if (last && this.list.length > 0 && state.clock - last.clock < EVERY) return;
    this.list.push(state);
    this.list = this.list.filter(({ clock }) => clock >= state.clock - KEPT - EVERY);
  }

  /** How it was so many seconds before `now`, or as long ago as is known. */
  before(now: State, seconds: number): State {
    const same = this.list.filter(({ started }) => started === now.started);
    return same.findLast(({ clock }) => clock <= now.clock - seconds) ?? same[0] ?? now;
  }
}

function rise(now: number, before: number | undefined): number {
  return Math.max(0, now - (before ?? 0));
}

/** Refusals of a class between two states, by reason, most first. */
export function refusals(now: ClassState, before: ClassState | undefined): [string, number][] {
  return Object.entries(now.rejected)
    .map(([reason, n]): [string, number] => [reason, rise(n, before?.rejected[reason])])
    .filter(([, n]) => n > 0)
    .sort((a, b) => b[1] - a[1]);
}

export function serverFailures(server: Server, before: State): number {
  const was = before.upstream.servers.find(
    ({ name, address }) => name === server.name && address === server.address,
  );
  return was ? rise(server.failures, was.failures) : 0;
}

/** Requests that got no response. */
export function failures(now: State, before: State): number {
  return Object.entries(now.upstream.failures).reduce(
    (sum, [kind, n]) => sum + rise(n, before.upstream.failures[kind]),
    0,
  );
}
