import type { Knobs } from '../schemas.ts';

export type Knob = 'differentiation' | 'favour';
export const KNOBS: Knob[] = ['differentiation', 'favour'];

export function same(a: Knobs, b: Knobs): boolean {
  return KNOBS.every((knob) => Math.abs(a[knob] - b[knob]) < 1e-6);
}

/** What the sliders say, beside what the gate has. */
export class Draft {
  /** The gate's, as seen last. */
  applied: Knobs | null = null;
  /** The gate's, when the operator began to move a slider. */
  base: Knobs | null = null;
  at: Knobs = { differentiation: 0, favour: 0 };
  /** The one that was moved last. */
  moved: Knob = 'differentiation';

  get isMoved(): boolean {
    return this.base !== null && this.applied !== null && !same(this.at, this.applied);
  }

  /** Whether somebody else has moved a knob since the operator began to. */
  get isOvertaken(): boolean {
    return this.base !== null && this.applied !== null && !same(this.base, this.applied);
  }

  /** The gate's knobs; the sliders follow unless the operator holds them. */
  follow(applied: Knobs): void {
    this.applied = applied;
    if (this.base === null || same(this.at, applied)) this.discard();
  }

  move(knob: Knob, to: number): void {
    this.base ??= this.applied;
    this.at = { ...this.at, [knob]: to };
    this.moved = knob;
    if (this.applied && same(this.at, this.applied)) this.base = null;
  }

  /** Both knobs, from what is applied now. */
  moveTo({ differentiation, favour }: Knobs): void {
    this.base = null;
    this.move('favour', favour);
    if (differentiation !== this.at.differentiation) this.move('differentiation', differentiation);
  }

  discard(): void {
    this.base = null;
    if (this.applied) this.at = { ...this.applied };
  }

  /** What the operator has seen of others' changes; from here on only later ones count. */
  accept(): void {
    if (this.base !== null) this.base = this.applied;
  }
}

/** Places over the whole of a knob, beside those of the slider and of what is applied. */
const GRID = [0, 0.2, 0.4, 0.6, 0.8, 1];

/** The settings of a curve along a knob, and the one that is applied: those that are asked last. */
export function curve({ at, along, applied }: { at: Knobs; along: Knob; applied: Knobs }): Knobs[] {
  return [at, applied, ...GRID.map((place) => ({ ...at, [along]: place }))];
}
