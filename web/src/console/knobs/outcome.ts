import { h } from '../../dom.ts';
import { button, setText } from '../elements.ts';
import type { Knobs, Outcome, Point } from '../schemas.ts';
import { timeOf } from '../words.ts';
import { Comparison, judgement, sessionsOf, sureness } from './compare.ts';

/** What was applied, and what had been said of it. */
export interface Applied {
  at: number;
  old: Knobs;
  new: Knobs;
  point: Point | null;
}

/** What it did, beside what was predicted. */
export class Did {
  readonly root = h('div', { class: 'did', hidden: true });
  private readonly words = h('p', {});
  private readonly verdict = h('p', { class: 'said' });
  private readonly table = new Comparison('What the change did');
  readonly undo: HTMLButtonElement;

  constructor(undo: () => void, close: () => void) {
    this.undo = button('Undo', undo);
    this.root.append(
      h('h3', {}, 'What it did'),
      this.words,
      this.table.root,
      this.verdict,
      h('div', { class: 'actions' }, this.undo, button('Close', close)),
    );
  }

  show(applied: Applied | null, outcome: Outcome | null, classes: string[]): void {
    this.root.hidden = applied === null;
    if (!applied) return;
    const since = `Applied at ${timeOf(applied.at)}: ${values(applied.old)} → ${values(applied.new)}.`;
    const enough = outcome && sessionsOf(outcome) > 0;
    setText(
      this.words,
      enough ? `${since} ${sureness(outcome)}` : `${since} No session has ended since then.`,
    );
    setText(this.verdict, enough ? judgement(outcome, applied.point) : '');
    this.table.show(classes, [
      { title: 'Measured since', outcome },
      { title: 'Predicted', point: applied.point },
    ]);
  }
}

export function values({ differentiation, favour }: Knobs): string {
  return `differentiation ${differentiation.toFixed(2)}, favour ${favour.toFixed(2)}`;
}
