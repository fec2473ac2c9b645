import { isAbort, why } from '../client.ts';
import type { Gate } from '../gate.ts';
import type { Foresight, Knobs, Point } from '../schemas.ts';
import { questions, same, type Draft, type Knob } from './draft.ts';

/** A slider on its way is not asked about, ms. */
const REST = 250;

export type Prediction =
  { kind: 'none' } | { kind: 'asking'; before: Known | null } | Known | { kind: 'failed'; why: string };

export interface Known {
  kind: 'known';
  foresight: Foresight;
  /** The knob along which the points lie. */
  along: Knob;
  at: Knobs;
}

/** Asks the simulator where the sliders stand; what it is asked when they move on is given up. */
export class Predictor {
  now: Prediction = { kind: 'none' };
  private inFlight: AbortController | null = null;
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor(
    private readonly gate: Gate,
    private readonly changed: () => void,
  ) {}

  ask(draft: Draft): void {
    this.cancel();
    this.now = { kind: 'asking', before: this.now.kind === 'known' ? this.now : null };
    this.timer = setTimeout(() => {
      void this.predict(draft);
    }, REST);
  }

  forget(): void {
    this.cancel();
    this.now = { kind: 'none' };
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
      this.now = { kind: 'known', foresight, along: moved, at };
    } catch (error) {
      if (mine.signal.aborted || isAbort(error)) return;
      this.now = { kind: 'failed', why: why(error) };
    }
    this.changed();
  }
}

/** The point at these knobs. */
export function pointAt({ points }: Foresight, knobs: Knobs): Point | null {
  return points.find((point) => same(point, knobs)) ?? null;
}
