import { isAbort, Refused, why } from './client.ts';
import type { Gate } from './gate.ts';
import type { Presence } from './presence.ts';
import { MOST_SAMPLES } from './samples.ts';
import type { Sample } from './schemas.ts';
import type { Store } from './store.ts';
import { messages } from './stream.ts';

/** Samples come each second: who says nothing for this long is gone, which has to be said within 3 s. */
const SILENCE = 2.7;
const WATCH_EVERY = 0.1;
const STATE_EVERY = 2;
const POLL_EVERY = 2;
/** How often it is tried to listen again where too many listened. */
const LISTEN_EVERY = 30;
const LONGEST_PAUSE = 10;

const CHANGES = new Set(['knobs', 'mode', 'class', 'drain', 'reload']);

/** Nobody looks at the page. */
class Unseen extends Error {}

/** Keeps the store up to date: listens to the gate, and comes back when it is gone. */
export class Link {
  private heard = 0;
  private failures = 0;
  private wake: () => void = () => undefined;
  /** Which run of the gate the samples are of. */
  private loaded: number | undefined;
  /** Since when events have been missed, by the gate's clock. */
  private deafSince: number | null = null;
  private refreshing: Promise<void> | null = null;
  private next: Promise<void> | null = null;

  constructor(
    private readonly gate: Gate,
    private readonly store: Store,
    private readonly presence: Presence,
  ) {}

  async run(): Promise<never> {
    for (;;) {
      try {
        await this.presence.back();
        await this.connect();
      } catch (error) {
        if (error instanceof Unseen) this.store.connect({ kind: 'connecting' });
        else this.lose(error);
      }
      await this.pause();
    }
  }

  /** Ends a pause between two tries. */
  tryNow(): void {
    this.wake();
  }

  /** Asks for the state now, as after a change. Of many calls at once, the first and one after it ask. */
  refresh(): Promise<void> {
    const { refreshing } = this;
    if (!refreshing) {
      this.refreshing = this.ask().finally(() => {
        this.refreshing = null;
      });
      return this.refreshing;
    }
    this.next ??= refreshing
      .catch(() => undefined)
      .then(() => {
        this.next = null;
        return this.refresh();
      });
    return this.next;
  }

  /** This page has changed the gate: answers that are under way are of before, and are asked for again. */
  overtake(): void {
    this.store.overtake();
    this.catchUp();
  }

  /** What fails here is asked for again with the state. */
  private catchUp(): void {
    void this.refresh().catch(() => undefined);
  }

  private async ask(): Promise<void> {
    const { gate, store } = this;
    const asked = store.ask();
    const [state, { changes }] = await Promise.all([gate.state(), gate.changes()]);
    // The changes first: who shows a new state says who has made it.
    store.takeChanges(changes, asked);
    store.takeState(state, asked);
  }

  private async connect(): Promise<void> {
    await this.takeState();
    const stop = new AbortController();
    try {
      // It listens first: between what is loaded and what is told then, nothing is missed.
      const heard = await this.open(stop.signal);
      await this.fill();
      if (typeof heard === 'string') await this.poll(heard);
      else await this.whileListening(heard, stop);
    } finally {
      stop.abort();
    }
  }

  /** What the gate tells, or why it tells nothing. */
  private async open(signal: AbortSignal): Promise<ReadableStream<Uint8Array> | string> {
    try {
      return await this.gate.events(signal);
    } catch (error) {
      if (error instanceof Refused && error.status === 503) return error.message;
      throw error;
    }
  }

  private live(polling: string | null): void {
    this.failures = 0;
    this.store.connect({ kind: 'live', polling });
  }

  private async takeState(signal?: AbortSignal): Promise<void> {
    const asked = this.store.ask();
    this.store.takeState(await this.gate.state(signal), asked);
  }

  private async takeChanges(): Promise<void> {
    const asked = this.store.ask();
    this.store.takeChanges((await this.gate.changes()).changes, asked);
  }

  /** Loads what has been missed: all of it, where the gate is another one than before. */
  private async fill(): Promise<void> {
    const { store, gate } = this;
    const { samples } = store;
    const started = store.state?.started;
    if (this.loaded !== started || !samples.last) {
      samples.load(await gate.history(MOST_SAMPLES, MOST_SAMPLES));
      this.loaded = started;
    } else {
      samples.add(...(await this.missed()));
    }
    await this.takeChanges();
  }

  private async missed(): Promise<Sample[]> {
    const since = this.store.now - (this.store.samples.last?.at ?? 0);
    const seconds = Math.min(Math.max(Math.ceil(since) + 1, 2), MOST_SAMPLES);
    const history = await this.gate.history(seconds, seconds);
    return history.samples;
  }

  private async whileListening(body: ReadableStream<Uint8Array>, stop: AbortController): Promise<void> {
    this.live(null);
    this.heard = performance.now();
    const { store, deafSince } = this;
    if (deafSince !== null) store.happened('not listening', { from: deafSince, to: store.now });
    this.deafSince = null;
    const gone = async (): Promise<void> => {
      await this.listen(body);
      throw new Error('the gate has closed the connection');
    };
    try {
      await Promise.all([gone(), this.watch(stop.signal), this.keepState(stop.signal)]);
    } finally {
      this.deafSince = store.now - (performance.now() - this.heard) / 1000;
    }
  }

  private async listen(body: ReadableStream<Uint8Array>): Promise<void> {
    const heard = (): void => {
      this.heard = performance.now();
    };
    for await (const { event, data } of messages(body, heard)) {
      const value: unknown = JSON.parse(data);
      if (event === 'sample') {
        this.store.samples.add(value as Sample);
        this.store.changed();
      } else if (CHANGES.has(event)) {
        // What the event says is in the list as well, with its number and time.
        this.store.expectChange();
        this.catchUp();
      } else {
        this.store.happened(event, value);
      }
    }
  }

  private async watch(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await sleep(WATCH_EVERY);
      if (this.presence.isAway) throw new Unseen();
      if (performance.now() - this.heard > SILENCE * 1000) throw new Error('the gate has fallen silent');
    }
  }

  private async keepState(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await sleep(STATE_EVERY);
      await this.takeState(signal);
      if (this.store.isBehind && !this.refreshing) await this.takeChanges().catch(() => undefined);
      if (this.loaded !== this.store.state?.started) await this.fill();
    }
  }

  /** Where too many listen already. */
  private async poll(reason: string): Promise<void> {
    this.live(reason);
    this.deafSince ??= this.store.now;
    for (let waited = 0; waited < LISTEN_EVERY; waited += POLL_EVERY) {
      await sleep(POLL_EVERY);
      if (this.presence.isAway) throw new Unseen();
      await this.takeState();
      await this.fill();
      this.store.changed();
    }
  }

  private lose(error: unknown): void {
    const { store } = this;
    const before = store.connection;
    this.failures += 1;
    const pause = Math.min(2 ** (this.failures - 1), LONGEST_PAUSE);
    const words = isAbort(error) ? 'the connection was given up' : why(error);
    store.connect({
      kind: 'lost',
      since: before.kind === 'lost' ? before.since : store.now,
      why: words,
      next: store.now + pause,
    });
  }

  private async pause(): Promise<void> {
    const { connection, now } = this.store;
    if (connection.kind !== 'lost') return;
    const woken = new Promise<void>((resolve) => {
      this.wake = resolve;
    });
    await Promise.race([sleep(connection.next - now), woken]);
  }
}

function sleep(seconds: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, Math.max(0, seconds) * 1000);
  });
}
