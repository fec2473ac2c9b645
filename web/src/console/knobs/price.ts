import { about, rate } from '../words.ts';
import { change, isAll, type Figures, type Measured, type Side } from './figures.ts';

export const SAME = 'no noticeable difference';

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
  const note = change('share', before, after) === 0 ? ` (${SAME})` : '';
  return `${words(before)} → ${words(after)}${note}`;
}

function ofClass(name: string, from: Figures | undefined, to: Figures, isMore: boolean): string {
  const figures = [completion(from?.completion, to.completion), within(from?.p95, to.p95)];
  const known = figures.filter((figure) => figure !== null);
  // Said once, where it is true of all of them.
  const isSame = known.length > 1 && known.every(({ note }) => note === SAME);
  const each = known.map(({ words, note }) => (note === '' || isSame ? words : `${words} (${note})`));
  const said = each.join(', ') || 'nothing is known';
  const hasAll = isAll(from?.completion) && isAll(to.completion) && change('time', from?.p95, to.p95) >= 0;
  const rest =
    isMore && hasAll ? ` ${name} already gets all: more differentiation has nothing left to give it.` : '';
  return `${name}: ${isSame ? `${SAME}: ` : ''}${said}.${rest}`;
}

/** A figure before and after, and what is to be said of the difference. */
interface Figure {
  words: string;
  note: string;
}

function completion(from: Measured | null | undefined, to: Measured | null): Figure | null {
  if (!to) return null;
  if (isAll(to) && (!from || isAll(from))) return { words: 'all completed', note: '' };
  const after = of100(to.value);
  if (!from) return { words: `${after} of 100 sessions completed`, note: '' };
  const before = of100(from.value);
  const more = after - before;
  const words = `${between(String(before), String(after))} of 100 sessions completed`;
  return { words, note: change('share', from, to) === 0 ? SAME : `${more < 0 ? '−' : '+'}${Math.abs(more)}` };
}

function within(from: Measured | null | undefined, to: Measured | null): Figure | null {
  if (!to) return null;
  const after = about(to.value);
  const words = `95\u00a0% within ${between(from ? about(from.value) : after, after)}`;
  return { words, note: from && change('time', from, to) === 0 ? SAME : '' };
}

/** The unit once, where both have it; one figure where they read alike. */
function between(before: string, after: string): string {
  if (before === after) return after;
  const unit = /(\u00a0\D+|\/s)$/.exec(after)?.[0];
  const same = unit !== undefined && before.endsWith(unit);
  return `${same ? before.slice(0, -unit.length) : before} → ${after}`;
}

function sum(from: Side | null, to: Side): string {
  if (!to.total) return 'Together: not known.';
  const after = rate(to.total.value);
  const before = from?.total ? rate(from.total.value) : after;
  const note = from?.total && change('rate', from.total, to.total) === 0 ? ` (${SAME})` : '';
  return `Together ${between(before, after).replace('/s', '')} sessions completed per second${note}.`;
}
