import type { Change, Knobs, Outcome, Point } from '../schemas.ts';
import { same } from './draft.ts';

/** What is measured reaches back no further, s. */
export const LATELY = 180;
/** For so long after a change sessions meet what was before it, s. */
export const SETTLING = 10;
/** From less than this nothing is said of what was before a change, s. */
const LEAST = 20;
/** The gate remembers requests for so long: what came of earlier changes cannot be had any more, s. */
export const REMEMBERED = 540;
/** An order and its entry in the list of changes are no further apart, s. */
const NEAR = 10;

/** What was predicted of the knobs as they were set, and as they had been. */
export interface Told {
  point: Point;
  was: Point | null;
}

/** What was applied, what was before, and what had been said of it. */
export interface Applied {
  at: number;
  old: Knobs;
  new: Knobs;
  /** Who did it, where it was found in the list of changes. */
  who: string | null;
  told: Told | null;
  /** From when on what was before it is of one setting. */
  from: number;
  before: Outcome | null;
  /** Whether all sessions that began before it have ended. */
  isSettled: boolean;
  /** When it came to an end, and why; `null` while it holds. */
  until: number | null;
  ended: string;
  /** Whether nothing more will be known of it. */
  isFinal: boolean;
  /** Whether the gate was in shadow mode at some time since. */
  inShadow: boolean;
}

/** Changes of what decides over sessions. */
const DECISIVE = new Set(['knobs', 'reload', 'mode']);

/** When the last change before `at` was made of what decides over sessions; the list has the newest first. */
export function lastBefore(changes: Change[], at: number): number {
  return changes.find((one) => DECISIVE.has(one.event) && one.at < at)?.at ?? -Infinity;
}

/** From when on what is measured until `to` is of one setting, if the last change before it was made at `changed`. */
export function steadyFrom(to: number, changed: number): number {
  return Math.max(to - LATELY, changed + SETTLING);
}

/** Whether the time since the change before it is too short to say what was before. */
export function isTooSoon({ at, from }: Applied): boolean {
  return at - from < LEAST;
}

/** Takes its times from the list of changes, which is the same for all pages: its own, and that of its end. */
export function place(applied: Applied, changes: Change[]): void {
  const moves = changes.filter(({ event }) => event === 'knobs' || event === 'reload');
  const own = moves.filter((one) => one.event === 'knobs' && isOf(one, applied));
  applied.at = nearest(own, applied.at)?.at ?? applied.at;
  applied.from = steadyFrom(applied.at, lastBefore(changes, applied.at));
  if (applied.until === null) return;
  const later = moves.filter(({ at }) => at > applied.at);
  const end = nearest(later, applied.until);
  if (!end) return;
  applied.until = end.at;
  if (end.event === 'knobs' && isOf({ old: end.new, new: end.old }, applied)) applied.ended = 'Undone';
}

function nearest(changes: Change[], at: number): Change | null {
  const distance = (one: Change): number => Math.abs(one.at - at);
  const [first] = changes.filter((one) => distance(one) < NEAR).sort((a, b) => distance(a) - distance(b));
  return first ?? null;
}

function isOf(change: Pick<Change, 'old' | 'new'>, applied: Pick<Applied, 'old' | 'new'>): boolean {
  return same(change.old as Knobs, applied.old) && same(change.new as Knobs, applied.new);
}

/** The last change of the knobs that the list has, also where it has been undone; none that was made until `after`. */
export function found(changes: Change[], now: number, after: number): Applied | null {
  const [last, before] = changes.filter(({ event }) => event === 'knobs' || event === 'reload');
  if (last?.event !== 'knobs') return null;
  const isUndo = before?.event === 'knobs' && now - before.at < REMEMBERED && reverses(before, last);
  const { at, old, new: set, who } = isUndo ? before : last;
  if (at <= after || now - last.at > REMEMBERED) return null;
  return {
    ...begun(at, old as Knobs, set as Knobs),
    who,
    until: isUndo ? last.at : null,
    ended: isUndo ? 'Undone' : '',
  };
}

function reverses(change: Change, undo: Change): boolean {
  return same(change.old as Knobs, undo.new as Knobs) && same(change.new as Knobs, undo.old as Knobs);
}

/** A change of which nothing has been measured. */
export function begun(at: number, old: Knobs, set: Knobs): Applied {
  return {
    at,
    old,
    new: set,
    who: null,
    told: null,
    from: steadyFrom(at, -Infinity),
    before: null,
    isSettled: false,
    until: null,
    ended: '',
    isFinal: false,
    inShadow: false,
  };
}
