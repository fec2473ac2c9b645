import type { Client, Options } from './client.ts';
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
  /** How many of them are left out, those that have waited longest. */
  offset: number;
}

/** What is asked all the time, s. */
const STATE_TIMEOUT = 2;
/** A prediction is computed, not looked up. */
const FORESIGHT_TIMEOUT = 30;
/** Reading a configuration may look names up. */
const RELOAD_TIMEOUT = 15;
/** Requests on a page of the queue. */
export const QUEUE_LIMIT = 100;

/** The gate's admin API, an operation each. */
export class Gate {
  /** `changed` is called when a change has been answered, or may have been made without an answer. */
  constructor(
    private readonly client: Client,
    private readonly changed: () => void,
  ) {}

  state(signal?: AbortSignal): Promise<State> {
    return this.client.json('GET', '/api/v1/state', { signal, timeout: STATE_TIMEOUT });
  }

  history(seconds: number, samples: number): Promise<History> {
    const query = new URLSearchParams({ seconds: String(seconds), samples: String(samples) });
    return this.client.json('GET', `/api/v1/history?${query}`);
  }

  changes(): Promise<Changes> {
    return this.client.json('GET', '/api/v1/changes');
  }

  events(signal: AbortSignal): Promise<ReadableStream<Uint8Array>> {
    return this.client.open('/api/v1/events?samples=true', signal);
  }

  /** Refused with 409 where the knobs are not as `expected`. */
  moveKnobs(knobs: Knobs, expected: Knobs): Promise<Knobs> {
    return this.change('PATCH', '/api/v1/knobs', { body: { ...knobs, expected } });
  }

  /** Of these settings, or of some over both knobs, of which one is suggested. */
  foresight(knobs: Knobs[] | null, signal: AbortSignal): Promise<Foresight> {
    return this.client.json('POST', '/api/v1/foresight', {
      body: knobs ? { knobs } : {},
      signal,
      timeout: FORESIGHT_TIMEOUT,
    });
  }

  outcome(since: number): Promise<Outcome> {
    return this.client.json('GET', `/api/v1/outcome?since=${since.toFixed(3)}`);
  }

  queue(wanted: Wanted, signal?: AbortSignal): Promise<Queue> {
    const query = new URLSearchParams({ limit: String(QUEUE_LIMIT) });
    for (const [name, value] of Object.entries(wanted) as [string, string | number][]) {
      if (value !== '' && value !== 0) query.set(name, String(value));
    }
    return this.client.json('GET', `/api/v1/queue?${query}`, { signal });
  }

  sessions(): Promise<Sessions> {
    return this.client.json('GET', '/api/v1/sessions');
  }

  setClass(session: string, name: string): Promise<unknown> {
    return this.change('POST', classOf(session), { body: { class: name } });
  }

  unsetClass(session: string): Promise<unknown> {
    return this.change('DELETE', classOf(session));
  }

  setMode(mode: Mode): Promise<unknown> {
    return this.change('PATCH', '/api/v1/mode', { body: { mode } });
  }

  setDraining(draining: boolean): Promise<unknown> {
    return this.change(draining ? 'POST' : 'DELETE', '/api/v1/drain');
  }

  previewReload(): Promise<Preview> {
    return this.client.json('GET', '/api/v1/reload', { timeout: RELOAD_TIMEOUT });
  }

  reload(): Promise<{ changed: string[] }> {
    return this.change('POST', '/api/v1/reload', { timeout: RELOAD_TIMEOUT });
  }

  private async change<T>(method: string, path: string, options?: Options): Promise<T> {
    try {
      return await this.client.json(method, path, options);
    } finally {
      this.changed();
    }
  }
}

function classOf(session: string): string {
  return `/api/v1/sessions/${encodeURIComponent(session)}/class`;
}
