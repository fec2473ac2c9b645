import { about, rate } from '../words.ts';
import { change, isAll, isGreat, type Figures, type Kind, type Measured, type Side } from './figures.ts';

export const SAME = 'no noticeable difference';
/** Of a difference that is great, and not sure. */
const UNSURE = 'may be chance';

/** What a setting costs and gives, in words. */
export interface Price {
  /** What is lost of each class, and what is completed in all. */
  head: string;
  /** A sentence for each class. */
  sentences: string[];
}

/**
 * From one side to the other, or only the other where there is nothing to compare it with. `isMore` says whether
 * the first class is preferred more than before.
 */
export function price(names: string[], from: Side | null, to: Side, isMore: boolean): Price {
  const lost = names.map((name) => `${name} ${losses(from?.classes.get(name), to.classes.get(name))}`);
  const sentences = names.flatMap((name, i) => {
    const figures = to.classes.get(name);
    return figures ? ofClass(name, from?.classes.get(name), figures, isMore && i === 0) : [];
  });
  return { head: `The price, sessions lost of 100: ${lost.join(', ')}. ${sum(from, to)}`, sentences };
}

function of100(x: number): number {
  if (x <= 0 || x >= 1) return x >= 1 ? 100 : 0;
  return Math.min(99, Math.max(1, Math.round(x * 100)));
}

function losses(from: Figures | undefined, to: Figures | undefined): string {
  const after = to?.completion;
  if (!after) return 'not known';
  const before = from?.completion;
  const words = (one: Measured): string => (isAll(one) ? 'none' : String(100 - of100(one.value)));
  if (!before || words(before) === words(after)) return words(after);
  return `${words(before)} → ${words(after)}${note('share', before, after)}`;
}

function ofClass(name: string, from: Figures | undefined, to: Figures, isMore: boolean): string | [] {
  const hasAll = isAll(from?.completion) && isAll(to.completion) && change('time', from?.p95, to.p95) >= 0;
  const rest =
    isMore && hasAll ? ` ${name} already gets all: more differentiation has nothing left to give it.` : '';
  const figures = [completed(from?.completed, to.completed), within(from?.p95, to.p95)];
  const known = figures.filter((words) => words !== '').join(', ');
  return known === '' ? [] : `${name}: ${known}.${rest}`;
}

function completed(from: Measured | null | undefined, to: Measured | null): string {
  if (!to) return '';
  const after = rate(to.value);
  const before = from ? rate(from.value) : after;
  const words = between(before, after).replace('/s', '');
  return `${words} completed per second${before === after ? '' : note('rate', from, to)}`;
}

function within(from: Measured | null | undefined, to: Measured | null): string {
  if (!to) return '';
  const after = about(to.value);
  const before = from ? about(from.value) : after;
  return `95\u00a0% within ${between(before, after)}${before === after ? '' : note('time', from, to)}`;
}

/** What is to be said of a difference that is not one, or not for sure. */
function note(kind: Kind, from: Measured | null | undefined, to: Measured): string {
  if (!from || change(kind, from, to) !== 0) return '';
  return ` (${isGreat(kind, from.value, to.value) ? UNSURE : SAME})`;
}

/** The unit once, where both have it; one figure where they read alike. */
function between(before: string, after: string): string {
  if (before === after) return after;
  const unit = /(\u00a0\D+|\/s)$/.exec(after)?.[0];
  const same = unit !== undefined && before.endsWith(unit);
  return `${same ? before.slice(0, -unit.length) : before} → ${after}`;
}

function sum(from: Side | null, to: Side): string {
  return to.total ? `Together ${completed(from?.total, to.total)}.` : 'Together: not known.';
}
