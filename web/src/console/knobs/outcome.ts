import { h } from '../../dom.ts';
import { button, setText } from '../elements.ts';
import type { Outcome } from '../schemas.ts';
import type { Store } from '../store.ts';
import { duration, operatorOf, timeOf } from '../words.ts';
import { isTooSoon, SETTLING, type Applied } from './applied.ts';
import { Comparison, type Column } from './compare.ts';
import { lacksPercentiles, measuredSide, predictedSide, sessionsOf, type Side } from './figures.ts';
import type { Outcomes } from './outcomes.ts';
import { price } from './price.ts';
import { PriceList } from './pricelist.ts';
import { capacityWords, sureness, verdicts } from './verdict.ts';
import { values } from './words.ts';

const SHADOW = ' In shadow mode the knobs change nothing for clients, so there is nothing to judge.';

/** What it did, beside what was before and what was predicted. */
export class Did {
  readonly root = h('div', { class: 'did', hidden: true });
  /** As predicted until something is measured, and then as measured. */
  private readonly price = new PriceList();
  private readonly verdicts = h('ul', { class: 'said', 'aria-label': 'Verdicts by class, and on the sum' });
  /** What is to be read first, for a place of its own. */
  readonly top = h('div', { class: 'did-top' }, this.price.root, this.verdicts);
  private readonly words = h('p', {});
  private readonly capacity = h('p', { class: 'notice bad' });
  private readonly table = new Comparison('What the change did');
  private readonly notes = h('p', { class: 'small' });
  private drawn = '';

  constructor(
    private readonly store: Store,
    close: () => void,
  ) {
    this.root.append(
      h('div', { class: 'did-head' }, h('h3', {}, 'What it did'), button('Close', close)),
      this.words,
      this.capacity,
      this.table.root,
      this.notes,
    );
  }

  /** Without what is to be read first while something else is shown in its place. */
  show(outcomes: Outcomes, isFirst: boolean): void {
    const { applied, since, problem } = outcomes;
    this.root.hidden = applied === null;
    this.top.hidden = applied === null || !isFirst;
    if (!applied) return;
    const seconds = Math.round((applied.until ?? this.store.now) - applied.at);
    const names = this.store.classes;
    const drawn = JSON.stringify([applied, since, problem, names, isMeasured(since) ? '' : seconds]);
    if (drawn === this.drawn) return;
    this.drawn = drawn;
    setText(
      this.words,
      `${what(applied)} ${this.came(applied, since, problem)}${applied.inShadow ? SHADOW : ''}`,
    );
    const sides = sidesOf(applied, since);
    const meanwhile = applied.until === null ? `measuring, ${duration(seconds)}` : 'none has ended';
    this.showPrice(applied, names, sides, meanwhile);
    this.showWords(applied, names, sides);
    const columns: Column[] = [
      ...(isTooSoon(applied) ? [] : [{ title: 'Before', side: sides.before }]),
      ...(sides.predicted ? [{ title: 'Predicted', side: sides.predicted }] : []),
      {
        title: applied.until === null ? 'Measured since' : 'Measured until then',
        side: sides.since,
        meanwhile,
      },
    ];
    this.table.show(names, columns);
    setText(this.notes, notKept(columns));
  }

  private showPrice(applied: Applied, names: string[], sides: Sides, meanwhile: string): void {
    const { before, was, predicted, since } = sides;
    const isMore = applied.new.differentiation > applied.old.differentiation;
    if (applied.inShadow) this.price.show(null, '');
    else if (since && isMeasuredSide(since)) {
      const title = before ? 'Measured: before → since' : 'Measured since; what was before is not known';
      this.price.show(price(names, before, since, isMore), title);
    } else {
      const title = `Predicted when it was applied; ${meanwhile}`;
      this.price.show(predicted && price(names, was, predicted, isMore), title);
    }
  }

  private showWords(applied: Applied, names: string[], { before, predicted, since }: Sides): void {
    const { store } = this;
    if (applied.inShadow) {
      this.say([]);
      setText(this.capacity, '');
      return;
    }
    this.say(since && isMeasuredSide(since) ? verdicts(names, before, predicted, since) : []);
    const until = applied.until ?? store.now;
    setText(this.capacity, capacityWords(store.samples, applied.from, applied.at, until));
  }

  private came({ at, until }: Applied, outcome: Outcome | null, problem: string | null): string {
    if (outcome && sessionsOf(outcome) > 0) return sureness(outcome);
    if (problem !== null) return `What came of it is not known: ${problem}.`;
    if ((until ?? this.store.now) - at < SETTLING) {
      return until === null
        ? `Settling: sessions that begin in the first ${duration(SETTLING)} still meet what was before, and are left out.`
        : 'That was too short to be measured.';
    }
    return outcome ? 'No session that began since then is over yet.' : 'What came of it is being asked.';
  }

  private say(texts: string[]): void {
    this.verdicts.replaceChildren(...texts.map((text) => h('li', {}, text)));
    this.verdicts.hidden = texts.length === 0;
  }
}

interface Sides {
  before: Side | null;
  /** Predicted of the knobs as they had been. */
  was: Side | null;
  predicted: Side | null;
  since: Side | null;
}

function sidesOf({ before, told }: Applied, since: Outcome | null): Sides {
  return {
    before: before && measuredSide(before),
    was: told?.was ? predictedSide(told.was) : null,
    predicted: told && predictedSide(told.point),
    since: since && measuredSide(since),
  };
}

function isMeasured(outcome: Outcome | null): boolean {
  return outcome !== null && sessionsOf(outcome) > 0;
}

function isMeasuredSide({ classes }: Side): boolean {
  return [...classes.values()].some(({ sessions }) => (sessions ?? 0) > 0);
}

/** Columns of which no percentile is known, though sessions have ended. */
function notKept(columns: Column[]): string {
  const titles = columns
    .filter(({ side }) => side && lacksPercentiles(side))
    .map(({ title }) => `“${title}”`);
  return titles.length > 0 ? `95\u00a0% within: not kept of ${titles.join(' and ')}.` : '';
}

function what(applied: Applied): string {
  const { at, who, old, new: now, before, told, until, ended } = applied;
  const by = who === null ? 'Applied' : `Set by ${operatorOf(who)}`;
  const end = until === null ? '' : ` ${ended} at ${timeOf(until)}, so nothing is added any more.`;
  const reach = before ? ` Before: the last ${duration(at - before.from)} until then.` : '';
  const was = isTooSoon(applied) ? ' It was changed again too soon to say what was before.' : reach;
  const said = who !== null && told === null ? ' What was predicted on another page is not known.' : '';
  return `${by} at ${timeOf(at)}: ${values(old)} → ${values(now)}.${end}${was}${said}`;
}
