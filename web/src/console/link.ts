import { isAbort, Refused, why } from './client.ts';
import type { Gate } from './gate.ts';
import { MOST_SAMPLES } from './samples.ts';
import type { Sample } from './schemas.ts';
import type { Store } from './store.ts';
import { messages } from './stream.ts';

/** Samples come each second: who says nothing for this long is gone, s. */
const SILENCE = 2.2;
const WATCH_EVERY = 0.3;
const STATE_EVERY = 2;
const POLL_EVERY = 2;
/** How often it is tried to listen again where too many listened. */
const LISTEN_EVERY = 30;
const LONGEST_PAUSE = 10;

const CHANGES = new Set(['knobs', 'mode', 'class', 'drain', 'reload']);

/** Keeps the store up to date: listens to the gate, and comes back when it is gone. */
export class Link {
  private heard = 0;
  private failures = 0;
  private wake: () => void = () => undefined;

  constructor(
    private readonly gate: Gate,
    private readonly store: Store,
  ) {}

  async run(): Promise<never> {
    for (;;) {
      try {
        await this.connect();
      } catch (error) {
        this.lose(error);
      }
      await this.pause();
    }
  }

  /** Ends a pause between two tries. */
  tryNow(): void {
    this.wake();
  }

  /** Asks for the state now, as after a change. */
  async refresh(): Promise<void> {
    const asked = Date.now() / 1000;
    const [state, { changes }] = await Promise.all([this.gate.state(), this.gate.changes()]);
    this.store.takeState(state, asked);
    this.store.takeChanges(changes);
  }

  private async connect(): Promise<void> {
    const before = this.store.state?.started;
    await this.takeState();
    const stop = new AbortController();
    try {
      // It listens first: between what is loaded and what is told then, nothing is missed.
      const heard = await this.open(stop.signal);
      await this.fill(before);
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
    const asked = Date.now() / 1000;
    const state = await this.gate.state(signal);
    this.store.takeState(state, asked);
  }

  /** Loads what has been missed: all of it, where the gate is another one than before. */
  private async fill(startedBefore: number | undefined): Promise<void> {
    const { store, gate } = this;
    const { samples } = store;
    const restarted = startedBefore !== undefined && startedBefore !== store.state?.started;
    if (restarted || !samples.last) {
      samples.load(await gate.history(MOST_SAMPLES, MOST_SAMPLES));
      if (restarted) store.restarted = store.now;
    } else {
      samples.add(...(await this.missed()));
    }
    store.takeChanges((await gate.changes()).changes);
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
    const gone = async (): Promise<void> => {
      await this.listen(body);
      throw new Error('the gate has closed the connection');
    };
    await Promise.all([gone(), this.watch(stop.signal), this.keepState(stop.signal)]);
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
        // What the event says is in the list as well, with its number and time. A failure shows in the stream.
        void this.refresh().catch(() => undefined);
      } else {
        this.store.happened(event, value);
      }
    }
  }

  private async watch(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await sleep(WATCH_EVERY);
      if (performance.now() - this.heard > SILENCE * 1000) throw new Error('the gate has fallen silent');
    }
  }

  private async keepState(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await sleep(STATE_EVERY);
      const before = this.store.state?.started;
      await this.takeState(signal);
      if (before !== this.store.state?.started) await this.fill(before);
    }
  }

  /** Where too many listen already. */
  private async poll(reason: string): Promise<void> {
    this.live(reason);
    for (let waited = 0; waited < LISTEN_EVERY; waited += POLL_EVERY) {
      await sleep(POLL_EVERY);
      const before = this.store.state?.started;
      await this.takeState();
      await this.fill(before);
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
