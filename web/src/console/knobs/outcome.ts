import { h } from '../../dom.ts';
import { button, setText } from '../elements.ts';
import type { Outcome } from '../schemas.ts';
import { timeOf } from '../words.ts';
import { Comparison, judgement, sessionsOf, sureness } from './compare.ts';
import type { Applied, Outcomes } from './outcomes.ts';
import { values } from './words.ts';

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

  show({ applied, since: outcome, problem }: Outcomes, classes: string[]): void {
    this.root.hidden = applied === null;
    if (!applied) return;
    const what = `Applied at ${timeOf(applied.at)}: ${values(applied.old)} → ${values(applied.new)}.`;
    const until =
      applied.until === null
        ? ''
        : ` ${applied.ended} at ${timeOf(applied.until)}, so nothing is added any more.`;
    setText(this.words, `${what}${until} ${came(outcome, problem)}`);
    setText(this.verdict, judged(applied, outcome));
    this.table.show(classes, [
      { title: applied.until === null ? 'Measured since' : 'Measured until then', outcome },
      { title: 'Predicted', point: applied.point },
    ]);
  }
}

function came(outcome: Outcome | null, problem: string | null): string {
  if (outcome) return sessionsOf(outcome) > 0 ? sureness(outcome) : 'No session has ended since then.';
  return problem === null ? 'What came of it is being asked.' : `What came of it is not known: ${problem}.`;
}

function judged(applied: Applied, outcome: Outcome | null): string {
  if (applied.inShadow)
    return 'In shadow mode the knobs change nothing for clients, so there is nothing to judge.';
  return outcome ? judgement(outcome, applied.point) : '';
}
