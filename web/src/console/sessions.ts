import { h } from '../dom.ts';
import { why } from './client.ts';
import { allow, button, Keyed, Notice, section, setText } from './elements.ts';
import type { Desk, Part } from './part.ts';
import { field } from './queue.ts';
import type { Sessions } from './schemas.ts';
import { duration } from './words.ts';

type Set = Sessions['sessions'][number];

/** The list is asked for again after this long, and after a failure, s. */
const RELOAD_EVERY = 60;
const RETRY = 10;

/** The class of a session, set by hand. */
export class SessionsPart implements Part {
  readonly root: HTMLElement;
  private readonly id = h('input', {
    id: 'session-id',
    type: 'text',
    required: true,
    pattern: '[0-9a-fA-F]{1,16}',
    maxlength: '16',
    spellcheck: 'false',
    autocomplete: 'off',
    'aria-describedby': 'session-hint',
  });
  private readonly name = h('select', { id: 'session-class' });
  private readonly submit = h('button', { class: 'button primary' }, 'Set class');
  private readonly notice = new Notice();
  private readonly none = h('p', { class: 'hint' }, 'No session has a class that was set by hand.');
  private readonly list = h('ul', { class: 'sessions' });
  private readonly rows: Keyed<Set>;
  private seen: unknown;
  private shown: Set[] = [];
  /** When the list was loaded, by the gate's clock, from which its times count. */
  private loaded = 0;
  /** When it is asked for again at the latest, by the browser's own clock, ms. */
  private due = 0;

  constructor(private readonly desk: Desk) {
    this.rows = new Keyed(
      this.list,
      ({ session }) => session,
      (first) => this.row(first),
    );
    const form = h(
      'form',
      { class: 'filters' },
      field('Session', this.id),
      field('Class', this.name),
      this.submit,
    );
    form.addEventListener('submit', (event) => {
      event.preventDefault();
      void this.set();
    });
    this.root = section(
      'sessions',
      'Class of a session',
      h(
        'p',
        { class: 'hint', id: 'session-hint' },
        'The id is up to 16 hexadecimal digits: session_id of the access log, or the headers of explain mode. It holds until the session ends.',
      ),
      form,
      this.notice.root,
      this.none,
      this.list,
    );
  }

  render(): void {
    const { store } = this.desk;
    const key = JSON.stringify(store.classes);
    if (this.name.dataset.names !== key) {
      this.name.dataset.names = key;
      this.name.replaceChildren(...store.classes.map((name) => h('option', { value: name }, name)));
    }
    allow(this.submit, store);
    for (const one of this.list.querySelectorAll('button')) allow(one, store);
    // The list changes only with a change, or another gate.
    const now = `${store.changes.find(({ event }) => event === 'class')?.id ?? ''} ${store.state?.started ?? ''}`;
    this.rows.show(this.shown);
    if (store.connection.kind !== 'live') return;
    if (this.seen === now && performance.now() < this.due) return;
    this.seen = now;
    void this.load();
  }

  private async load(): Promise<void> {
    this.due = performance.now() + RELOAD_EVERY * 1000;
    try {
      const { sessions } = await this.desk.gate.sessions();
      this.loaded = this.desk.store.now;
      this.shown = sessions;
      this.rows.show(sessions);
      this.none.hidden = sessions.length > 0;
    } catch (error) {
      this.due = performance.now() + RETRY * 1000;
      this.notice.bad(`The sessions are not known: ${why(error)}.`);
    }
  }

  private async set(): Promise<void> {
    const [session, name] = [this.id.value.trim(), this.name.value];
    try {
      await this.desk.gate.setClass(session, name);
      this.notice.good(`Session ${session} is of class ${name} from its next request on.`);
      this.id.value = '';
    } catch (error) {
      this.notice.bad(`Not set: ${why(error)}.`);
    }
    await this.load();
    await this.desk.refresh().catch(() => undefined);
  }

  private row({ session }: Set): { element: HTMLElement; update: (set: Set) => void } {
    const words = h('span');
    const back = button('Take back', () => void this.unset(session), {
      'aria-label': `Take back ${session}`,
    });
    const update = (set: Set): void => {
      const ends =
        set.expires === null || set.expires === undefined
          ? ''
          : `, for ${duration(Math.max(0, set.expires - (this.desk.store.now - this.loaded)))} at most`;
      setText(words, `${set.session}: ${set.class ?? 'its own'}${ends}`);
    };
    return { element: h('li', {}, words, back), update };
  }

  private async unset(session: string): Promise<void> {
    try {
      await this.desk.gate.unsetClass(session);
      this.notice.good(`Session ${session} is of its own class again.`);
    } catch (error) {
      this.notice.bad(`Not taken back: ${why(error)}.`);
    }
    await this.load();
    await this.desk.refresh().catch(() => undefined);
  }
}
