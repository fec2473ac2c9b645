import type { Client } from './client.ts';
import type {
  Changes,
  Foresight,
  History,
  Knobs,
  Mode,
  Outcome,
  Preview,
  Queue,
  Sessions,
  State,
} from './schemas.ts';

/** Which of the waiting requests. */
export interface Wanted {
  class: string;
  stage: string;
  search: string;
}

/** A prediction is computed, not looked up. */
const FORESIGHT_TIMEOUT = 30;
/** Reading a configuration may look names up. */
const RELOAD_TIMEOUT = 15;
const QUEUE_LIMIT = 100;

/** The gate's admin API, an operation each. */
export class Gate {
  constructor(private readonly client: Client) {}

  state(signal?: AbortSignal, timeout = 2): Promise<State> {
    return this.client.json('GET', '/api/v1/state', { signal, timeout });
  }

  history(seconds: number, samples: number, signal?: AbortSignal): Promise<History> {
    const query = new URLSearchParams({ seconds: String(seconds), samples: String(samples) });
    return this.client.json('GET', `/api/v1/history?${query}`, { signal });
  }

  changes(signal?: AbortSignal): Promise<Changes> {
    return this.client.json('GET', '/api/v1/changes', { signal });
  }

  events(signal: AbortSignal): Promise<ReadableStream<Uint8Array>> {
    return this.client.open('/api/v1/events?samples=true', signal);
  }

  knobs(): Promise<Knobs> {
    return this.client.json('GET', '/api/v1/knobs');
  }

  moveKnobs(knobs: Knobs): Promise<Knobs> {
    return this.client.json('PATCH', '/api/v1/knobs', { body: knobs });
  }

  foresight(knobs: Knobs[], signal: AbortSignal): Promise<Foresight> {
    return this.client.json('POST', '/api/v1/foresight', {
      body: { knobs },
      signal,
      timeout: FORESIGHT_TIMEOUT,
    });
  }

  outcome(since: number): Promise<Outcome> {
    return this.client.json('GET', `/api/v1/outcome?since=${since.toFixed(3)}`);
  }

  queue(wanted: Wanted, signal?: AbortSignal): Promise<Queue> {
    const query = new URLSearchParams({ limit: String(QUEUE_LIMIT) });
    for (const [name, value] of Object.entries(wanted) as [string, string][]) {
      if (value !== '') query.set(name, value);
    }
    return this.client.json('GET', `/api/v1/queue?${query}`, { signal });
  }

  sessions(): Promise<Sessions> {
    return this.client.json('GET', '/api/v1/sessions');
  }

  setClass(session: string, name: string): Promise<unknown> {
    return this.client.json('POST', classOf(session), { body: { class: name } });
  }

  unsetClass(session: string): Promise<unknown> {
    return this.client.json('DELETE', classOf(session));
  }

  setMode(mode: Mode): Promise<unknown> {
    return this.client.json('PATCH', '/api/v1/mode', { body: { mode } });
  }

  setDraining(draining: boolean): Promise<unknown> {
    return this.client.json(draining ? 'POST' : 'DELETE', '/api/v1/drain');
  }

  previewReload(): Promise<Preview> {
    return this.client.json('GET', '/api/v1/reload', { timeout: RELOAD_TIMEOUT });
  }

  reload(): Promise<{ changed: string[] }> {
    return this.client.json('POST', '/api/v1/reload', { timeout: RELOAD_TIMEOUT });
  }
}

function classOf(session: string): string {
  return `/api/v1/sessions/${encodeURIComponent(session)}/class`;
}
