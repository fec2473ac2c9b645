import { h } from '../dom.ts';
import { why } from './client.ts';
import { allow, button, Keyed, Notice, scrolling, section, setAttribute, setText } from './elements.ts';
import type { Desk, Part } from './part.ts';
import type { Change, Knobs, Mode } from './schemas.ts';
import { values } from './knobs/words.ts';
import type { Happening, Rejections } from './store.ts';
import { isUndoable, sessionOf } from './undo.ts';
import { brief, count, counted, operatorOf, when } from './words.ts';

/** More than that nobody reads here; the gate's own log has all. */
const MOST = 50;

/** What operators changed, and what happened by itself. */
export class Log implements Part {
  readonly root: HTMLElement;
  private readonly notice = new Notice();
  private readonly changes: Keyed<Change>;
  private readonly happenings: Keyed<Happening>;
  private readonly noChanges = h('p', { class: 'hint' }, 'Nobody has changed anything.');
  private readonly noEvents = h('p', { class: 'hint' }, 'Nothing has happened since this page was opened.');

  constructor(private readonly desk: Desk) {
    const changes = h('ol', { class: 'log', 'aria-label': 'Changes by operators' });
    const happenings = h('ol', { class: 'log', 'aria-label': 'Events' });
    this.changes = new Keyed(
      changes,
      // Numbers begin anew with the gate.
      ({ id }) => `${this.desk.store.state?.started} ${id}`,
      (change) => this.change(change),
    );
    this.happenings = new Keyed(
      happenings,
      ({ id }) => String(id),
      () => this.happening(),
    );
    this.root = section(
      'log',
      'Log',
      this.notice.root,
      h(
        'div',
        { class: 'logs' },
        h(
          'div',
          {},
          h('h3', {}, 'Changes'),
          this.noChanges,
          scrolling('Changes by operators', changes, 'log-scroll'),
        ),
        h('div', {}, h('h3', {}, 'Events'), this.noEvents, scrolling('Events', happenings, 'log-scroll')),
      ),
    );
  }

  render(): void {
    const { store } = this.desk;
    this.changes.show(store.changes.slice(0, MOST));
    this.happenings.show(store.happenings.slice(0, MOST));
    this.noChanges.hidden = store.changes.length > 0;
    this.noEvents.hidden = store.happenings.length > 0;
  }

  private change(first: Change): { element: HTMLElement; update: (change: Change) => void } {
    const { store } = this.desk;
    let shown = first;
    const time = h('time');
    const what = h('span', { class: 'what' });
    const undo = button('Undo', () => void this.undo(shown));
    const element = h('li', {}, time, what, undo);
    const update = (change: Change): void => {
      shown = change;
      setText(time, when(change.at, store.now));
      setText(what, `${operatorOf(change.who)}: ${text(change)}`);
      setAttribute(undo, 'aria-label', `Undo: ${text(change)}`);
      undo.hidden = !isUndoable(change, store.changes, store.state);
      allow(undo, store, !this.desk.mover.isBusy);
    };
    return { element, update };
  }

  private happening(): { element: HTMLElement; update: (happening: Happening) => void } {
    const time = h('time');
    const words = h('span', { class: 'what' });
    const update = ({ at, until, event, data, times }: Happening): void => {
      const now = this.desk.store.now;
      setText(time, times > 1 ? `${when(at, now)}–${when(until, now)}` : when(at, now));
      setText(words, happened(event, data, now));
    };
    return { element: h('li', {}, time, words), update };
  }

  private async undo(change: Change): Promise<void> {
    const { gate, mover, refresh } = this.desk;
    try {
      const session = sessionOf(change);
      if (change.event === 'knobs') {
        if (!(await mover.move(change.new as Knobs, change.old as Knobs))) return;
      } else if (change.event === 'mode') await gate.setMode(change.old as Mode);
      else if (change.event === 'drain') await gate.setDraining(change.old === true);
      else if (session && typeof change.old === 'string') await gate.setClass(session, change.old);
      else if (session) await gate.unsetClass(session);
      this.notice.good(`Undone: ${again(change)}.`);
    } catch (error) {
      this.notice.bad(`Not undone: ${why(error)}.`);
    }
    await refresh().catch(() => undefined);
  }
}

function text({ event, what, old, new: now }: Change): string {
  if (event === 'reload') return `configuration read again: ${brief(now)}`;
  return `${what} ${brief(old)} → ${brief(now)}`;
}

/** How it is once a change has been undone. */
function again({ event, what, old }: Change): string {
  if (event === 'knobs') return values(old as Knobs);
  const is = old === null || old === undefined ? 'as it was' : brief(old);
  return what === brief(old) ? is : `${what} is ${is} again`;
}

/** An event in words. */
function happened(event: string, data: unknown, now: number): string {
  const fields = (typeof data === 'object' && data !== null ? data : {}) as Record<string, unknown>;
  switch (event) {
    case 'rejections':
      return rejections(data as Rejections);
    case 'not listening':
      return `not listening from ${when(Number(fields.from), now)} to ${when(Number(fields.to), now)}: what happened then is not known here`;
    case 'raised':
      return `sessions raised: ${brief(fields)}`;
    case 'upstream':
      return fields.state === 'failing'
        ? `requests to the servers fail: ${brief(fields.failures)}`
        : 'the servers answer again';
    case 'pressure':
      return fields.state === 'refusing'
        ? 'connections or memory run short: new sessions are refused'
        : 'connections and memory are enough again';
    default:
      return `${event}: ${brief(data)}`;
  }
}

function rejections({ total, classes }: Rejections): string {
  const each = [...classes].map(([name, reasons]) => {
    const by = [...reasons].map(([reason, n]) => `${reason} ${count(n)}`);
    return `${name} (${by.join(', ')})`;
  });
  return `${counted(total, 'refusal')}: ${each.join(', ')}`;
}
