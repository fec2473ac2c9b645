import { isAbort, why } from '../client.ts';
import type { Gate } from '../gate.ts';
import type { Foresight, Knobs, Point } from '../schemas.ts';
import { questions, same, type Draft, type Knob } from './draft.ts';

/** A slider on its way is not asked about, ms. */
const REST = 250;
/** The load changes: a prediction is of that of the last minutes when it was made, s. */
const STALE = 60;
/** After a failure it is tried again, s. */
const RETRY = 10;

export type Prediction = { kind: 'none' } | Asking | Known | Failed;

interface Asking {
  kind: 'asking';
  before: Known | Failed | null;
  /** Whether it is asked again only because time has passed. */
  isRenewal: boolean;
}

export interface Known {
  kind: 'known';
  foresight: Foresight;
  /** The knob along which the points lie. */
  along: Knob;
  at: Knobs;
  /** When it was made, by the gate's clock. */
  made: number;
}

export interface Failed {
  kind: 'failed';
  why: string;
  made: number;
}

/** Asks the simulator where the sliders stand; what it is asked when they move on is given up. */
export class Predictor {
  now: Prediction = { kind: 'none' };
  private inFlight: AbortController | null = null;
  private timer: ReturnType<typeof setTimeout> | undefined;

  /** `clock` is the gate's, s. */
  constructor(
    private readonly gate: Pick<Gate, 'foresight'>,
    private readonly clock: () => number,
    private readonly changed: () => void,
  ) {}

  ask(draft: Draft, isRenewal = false): void {
    this.cancel();
    const before = this.said;
    this.now = { kind: 'asking', isRenewal, before: isRenewal || before?.kind === 'known' ? before : null };
    this.timer = setTimeout(() => {
      void this.predict(draft);
    }, REST);
  }

  /** Asks again when what is known has become old, and some time after a failure. Called while it is looked at. */
  renew(draft: Draft): void {
    const { now } = this;
    if (now.kind !== 'known' && now.kind !== 'failed') return;
    const age = this.clock() - now.made;
    if (age > (now.kind === 'known' ? STALE : RETRY)) this.ask(draft, true);
  }

  forget(): void {
    this.cancel();
    this.now = { kind: 'none' };
  }

  /** What was found out last, also while it is asked again. */
  get said(): Known | Failed | null {
    const { now } = this;
    if (now.kind === 'asking') return now.before;
    return now.kind === 'none' ? null : now;
  }

  get known(): Known | null {
    return this.said?.kind === 'known' ? this.said : null;
  }

  private cancel(): void {
    clearTimeout(this.timer);
    this.inFlight?.abort();
    this.inFlight = null;
  }

  private async predict(draft: Draft): Promise<void> {
    const mine = new AbortController();
    this.inFlight = mine;
    const { at, moved } = draft;
    try {
      const foresight = await this.gate.foresight(questions(draft), mine.signal);
      if (mine.signal.aborted) return;
      this.now = { kind: 'known', foresight, along: moved, at, made: this.clock() };
    } catch (error) {
      if (mine.signal.aborted || isAbort(error)) return;
      this.now = { kind: 'failed', why: why(error), made: this.clock() };
    }
    this.changed();
  }
}

/** The point at these knobs. */
export function pointAt({ points }: Foresight, knobs: Knobs): Point | null {
  return points.find((point) => same(point, knobs)) ?? null;
}
