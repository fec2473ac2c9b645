import { h } from '../../dom.ts';
import { button, setText } from '../elements.ts';
import type { Outcome } from '../schemas.ts';
import type { Store } from '../store.ts';
import { duration, operatorOf, timeOf } from '../words.ts';
import { Comparison, type Column } from './compare.ts';
import { measuredSide, predictedSide, sessionsOf, type Side } from './figures.ts';
import { LATELY, type Applied, type Outcomes } from './outcomes.ts';
import { price } from './price.ts';
import { PriceList } from './pricelist.ts';
import { capacityWords, sureness, verdicts } from './verdict.ts';
import { values } from './words.ts';

/** What it did, beside what was before and what was predicted. */
export class Did {
  readonly root = h('div', { class: 'did', hidden: true });
  private readonly words = h('p', {});
  private readonly price = new PriceList();
  private readonly verdicts = h('ul', { class: 'said', 'aria-label': 'Verdict by class' });
  private readonly capacity = h('p', { class: 'notice bad' });
  private readonly table = new Comparison('What the change did');
  private drawn = '';

  constructor(
    private readonly store: Store,
    close: () => void,
  ) {
    this.root.append(
      h('div', { class: 'did-head' }, h('h3', {}, 'What it did'), button('Close', close)),
      this.price.root,
      this.verdicts,
      this.words,
      this.capacity,
      this.table.root,
    );
  }

  show(outcomes: Outcomes): void {
    const { applied, since, problem } = outcomes;
    this.root.hidden = applied === null;
    if (!applied) return;
    const seconds = Math.round((applied.until ?? this.store.now) - applied.at);
    const names = this.store.classes;
    const drawn = JSON.stringify([applied, since, problem, names, isMeasured(since) ? '' : seconds]);
    if (drawn === this.drawn) return;
    this.drawn = drawn;
    setText(this.words, `${what(applied)} ${came(since, problem)}`);
    const sides = sidesOf(applied, since);
    this.showWords(applied, names, sides);
    const meanwhile = applied.until === null ? `measuring, ${duration(seconds)}` : 'none has ended';
    const columns: Column[] = [
      { title: 'Before', side: sides.before },
      ...(sides.predicted ? [{ title: 'Predicted', side: sides.predicted }] : []),
      {
        title: applied.until === null ? 'Measured since' : 'Measured until then',
        side: sides.since,
        meanwhile,
      },
    ];
    this.table.show(names, columns);
  }

  private showWords(applied: Applied, names: string[], { before, predicted, since }: Sides): void {
    const { store } = this;
    if (applied.inShadow) {
      this.price.show(null, '');
      this.say(['In shadow mode the knobs change nothing for clients, so there is nothing to judge.']);
      setText(this.capacity, '');
      return;
    }
    const isMore = applied.new.differentiation > applied.old.differentiation;
    this.price.show(
      since && isMeasuredSide(since) ? price(names, before, since, isMore) : null,
      'Measured: before → since',
    );
    this.say(since && isMeasuredSide(since) ? verdicts(names, before, predicted, since) : []);
    const until = applied.until ?? store.now;
    setText(this.capacity, capacityWords(store.samples, applied.at - LATELY, applied.at, until));
  }

  private say(texts: string[]): void {
    this.verdicts.replaceChildren(...texts.map((text) => h('li', {}, text)));
    this.verdicts.hidden = texts.length === 0;
  }
}

interface Sides {
  before: Side | null;
  predicted: Side | null;
  since: Side | null;
}

function sidesOf({ before, point }: Applied, since: Outcome | null): Sides {
  return {
    before: before && measuredSide(before),
    predicted: point && predictedSide(point),
    since: since && measuredSide(since),
  };
}

function isMeasured(outcome: Outcome | null): boolean {
  return outcome !== null && sessionsOf(outcome) > 0;
}

function isMeasuredSide({ classes }: Side): boolean {
  return [...classes.values()].some(({ sessions }) => (sessions ?? 0) > 0);
}

function what({ at, who, old, new: now, point, until, ended }: Applied): string {
  const by = who === null ? 'Applied' : `Set by ${operatorOf(who)}`;
  const end = until === null ? '' : ` ${ended} at ${timeOf(until)}, so nothing is added any more.`;
  const said =
    who !== null && point === null
      ? ' It was before this page was loaded: what was predicted is not known.'
      : '';
  return `${by} at ${timeOf(at)}: ${values(old)} → ${values(now)}.${end}${said}`;
}

function came(outcome: Outcome | null, problem: string | null): string {
  if (outcome) return sessionsOf(outcome) > 0 ? sureness(outcome) : 'No session has ended since then.';
  return problem === null ? 'What came of it is being asked.' : `What came of it is not known: ${problem}.`;
}
