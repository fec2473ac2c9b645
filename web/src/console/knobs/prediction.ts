import { isAbort, why } from '../client.ts';
import type { Gate } from '../gate.ts';
import type { Knobs, Point } from '../schemas.ts';
import { curve, KNOBS, same, type Draft, type Knob } from './draft.ts';
import { change, type Measured } from './figures.ts';
import { Memory, type Foretold } from './memory.ts';

/** A slider on its way is not asked about, ms. */
const REST = 250;
/** The load changes: what is compared is asked for again when it is older, s. */
export const STALE = 30;
/** The rest of a curve may be older, s. */
const STALE_CURVE = 60;
/** The load is another one when what is measured differs by more. */
const MOVED = 0.1;
/** After a failure it is tried again, s. */
const RETRY = 10;

/** Which settings it is about. */
interface Wanted {
  at: Knobs;
  applied: Knobs;
  /** The knob along which the curve goes. */
  along: Knob;
}

/** What is shown of the settings that were wanted last and are known. */
export interface Known extends Wanted {
  slider: Foretold;
  /** Of what is applied; `null` where it was not simulated. */
  now: Point | null;
  /** Along the knob, in rising order; those that are known. */
  curve: Point[];
}

/** Why there is no answer, and when that was. */
export interface Problem {
  why: string;
  made: number;
  /** Whether only the curve is missing. */
  isCurve: boolean;
}

/** What is asked just now: where the sliders are, the rest of the curve, or where to put them. */
export type Phase = 'idle' | 'first' | 'curve' | 'suggestion';

/** Where to put the knobs, of how many settings. */
export interface Suggested {
  to: Knobs;
  tried: number;
}

/**
 * Asks the simulator: first of the places that the operator compares, then of the rest of the curve. What it is
 * asked when the sliders move on is given up; what it has said is kept.
 */
export class Predictor {
  phase: Phase = 'idle';
  known: Known | null = null;
  problem: Problem | null = null;
  private wanted: Wanted | null = null;
  private readonly memory = new Memory();
  private inFlight: AbortController | null = null;
  private timer: ReturnType<typeof setTimeout> | undefined;

  /** `clock` is the gate's, s; `measured` are the sessions of all classes that are completed per second. */
  constructor(
    private readonly gate: Pick<Gate, 'foresight'>,
    private readonly clock: () => number,
    private readonly measured: () => Measured | null,
    private readonly changed: () => void,
  ) {}

  /** Shows what is known of where the sliders are, and asks for what is not. */
  ask({ at, applied, moved }: Draft): void {
    this.cancel();
    if (!applied) return;
    const before = this.wanted;
    this.wanted = { at: { ...at }, applied: { ...applied }, along: moved };
    // A failure is of the place at which it was asked; that of a renewal is shown until there is an answer.
    if (!before || !same(before.at, at)) this.problem = null;
    this.recall(STALE_CURVE);
    const isFirst = this.compared(this.wanted).length > 0;
    const isAsked = isFirst || this.lacking(curve(this.wanted), STALE_CURVE).length > 0;
    this.phase = isFirst ? 'first' : isAsked ? 'curve' : 'idle';
    if (!isAsked) this.problem = null;
    else
      this.timer = setTimeout(() => {
        void this.predict();
      }, REST);
  }

  /**
   * Asks again when what is known has become old or is of another load, and some time after a failure. Called while
   * it is looked at.
   */
  renew(draft: Draft): void {
    if (this.phase !== 'idle') return;
    const isOld = this.known !== null && !this.isFresh(this.known.slider, STALE);
    const { problem } = this;
    const isDue = problem && this.clock() - problem.made > (problem.isCurve ? STALE_CURVE : RETRY);
    if (problem ? isDue : isOld) this.ask(draft);
  }

  /** Where to put the knobs; `null` where that was given up. What is predicted of the places that were tried is kept. */
  async suggest(): Promise<Suggested | null> {
    this.cancel();
    const mine = new AbortController();
    this.inFlight = mine;
    this.phase = 'suggestion';
    this.changed();
    try {
      const foresight = await this.gate.foresight(null, mine.signal);
      if (mine.signal.aborted) return null;
      this.memory.take(foresight, this.clock(), this.measured());
      if (!foresight.suggested) throw new Error('the gate knows of none');
      return { to: foresight.suggested, tried: foresight.points.length };
    } catch (error) {
      if (mine.signal.aborted) return null;
      throw error;
    } finally {
      if (!mine.signal.aborted) this.phase = 'idle';
    }
  }

  /** A suggestion that is awaited is not wanted any more. */
  leaveSuggestion(): void {
    if (this.phase !== 'suggestion') return;
    this.cancel();
    this.phase = 'idle';
  }

  /** Shows nothing any more. */
  hide(): void {
    this.cancel();
    this.phase = 'idle';
    this.known = null;
    this.problem = null;
    this.wanted = null;
  }

  /** The gate is another one than that of which all was said. */
  forget(): void {
    this.hide();
    this.memory.clear();
  }

  /** Whether anything has been asked. */
  get isUsed(): boolean {
    return this.wanted !== null;
  }

  /** Whether what is shown is of where the sliders are. */
  get isCurrent(): boolean {
    return this.known !== null && this.wanted !== null && same(this.known.at, this.wanted.at);
  }

  /** How many points of the curve are not known; those for which there was no time, once all has been asked. */
  get missing(): number {
    const { known } = this;
    if (!known) return 0;
    return curve(known).filter(
      (one) => !known.curve.some((point) => same(point, one)) && !same(one, known.applied),
    ).length;
  }

  private cancel(): void {
    clearTimeout(this.timer);
    this.inFlight?.abort();
    this.inFlight = null;
  }

  /** Whether it is of the load of now, and not older. */
  private isFresh({ made, sum }: Foretold, age: number): boolean {
    return this.clock() - made <= age && !hasMoved(sum, this.measured());
  }

  /** Those of which nothing is known that is of the load of now, and not older. */
  private lacking(settings: Knobs[], age: number): Knobs[] {
    const unique = settings.filter((one, i) => settings.findIndex((other) => same(one, other)) === i);
    return unique.filter((one) => {
      const found = this.memory.find(one);
      return !found || !this.isFresh(found, age);
    });
  }

  /**
   * The two settings that are compared, unless both are known of the same load: only the points of one answer can be
   * told apart from what is chance.
   */
  private compared({ at, applied }: Wanted): Knobs[] {
    const both = [at, applied];
    const [one, other] = both.map((knobs) => this.memory.find(knobs));
    const isKnown = one && one.answer === other?.answer && this.lacking(both, STALE).length === 0;
    return isKnown ? [] : both;
  }

  /** Shows what is remembered, if the place of the sliders is, and not older. */
  private recall(age: number): void {
    const { wanted } = this;
    if (!wanted) return;
    const slider = this.memory.find(wanted.at);
    if (!slider || this.clock() - slider.made > age) return;
    const other = KNOBS.find((knob) => knob !== wanted.along) ?? 'favour';
    const along = this.memory.where((point) => Math.abs(point[other] - wanted.at[other]) < 1e-6);
    this.known = {
      ...wanted,
      slider,
      now: this.memory.find(wanted.applied)?.point ?? null,
      curve: along.sort((a, b) => a[wanted.along] - b[wanted.along]),
    };
  }

  private async predict(): Promise<void> {
    const { wanted } = this;
    if (!wanted) return;
    const mine = new AbortController();
    this.inFlight = mine;
    try {
      const first = this.compared(wanted);
      if (first.length > 0) await this.learn(first, mine.signal);
      this.phase = 'curve';
      this.problem = null;
      this.changed();
      const rest = this.lacking(curve(wanted), STALE_CURVE);
      if (rest.length > 0) await this.learn(rest, mine.signal);
    } catch (error) {
      if (mine.signal.aborted) return;
      const words = isAbort(error) ? 'the question was given up' : why(error);
      this.problem = { why: words, made: this.clock(), isCurve: this.phase === 'curve' };
    }
    this.phase = 'idle';
    this.changed();
  }

  private async learn(settings: Knobs[], signal: AbortSignal): Promise<void> {
    const { wanted } = this;
    const foresight = await this.gate.foresight(settings, signal);
    signal.throwIfAborted();
    this.memory.take(foresight, this.clock(), this.measured());
    this.recall(Infinity);
    if (this.phase === 'first' && wanted && !this.isCurrent) {
      throw new Error('there was no time to simulate it');
    }
  }
}

/** Whether both points that are compared are of one answer. */
export function isOfOne({ now, slider }: Known): boolean {
  return now !== null && slider.answer.points.includes(now);
}

/** Whether what is measured has come to be something else: by more than a tenth, and not by chance. */
function hasMoved(then: Measured | null, now: Measured | null): boolean {
  if (!then || !now || Math.abs(now.value - then.value) <= MOVED * then.value) return false;
  return change('rate', then, now) !== 0;
}
