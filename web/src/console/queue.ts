import { h } from '../dom.ts';
import { isAbort, why } from './client.ts';
import { button, Keyed, section, setText, table } from './elements.ts';
import { QUEUE_LIMIT, type Wanted } from './gate.ts';
import type { Desk, Part } from './part.ts';
import type { Queue, QueuedRequest, State } from './schemas.ts';
import { QUEUES } from './stages.ts';
import { about, count, timeOf } from './words.ts';

const REFRESH_EVERY = 5;
/** While somebody types, ms. */
const REST = 250;

/** Who waits now. Asked only while it is open: a queue of thousands is a lot to look through. */
export class QueuePart implements Part {
  readonly root: HTMLElement;
  private readonly wanted: Wanted = { class: '', stage: '', search: '', offset: 0 };
  private readonly search = h('input', {
    type: 'search',
    id: 'queue-search',
    spellcheck: 'false',
    autocomplete: 'off',
  });
  private readonly classes = h('select', { id: 'queue-class' });
  private readonly stages = h('select', { id: 'queue-stage' });
  private readonly summary = h('p', {});
  private readonly longest = new Map<string, number>();
  private readonly shown = h('p', { class: 'hint', role: 'status' });
  private readonly details: HTMLDetailsElement;
  private readonly rows: Keyed<QueuedRequest>;
  private readonly previous = button('Previous page', () => {
    this.turn(-QUEUE_LIMIT);
  });
  private readonly next = button('Next page', () => {
    this.turn(QUEUE_LIMIT);
  });
  private asking: AbortController | null = null;
  private asked = -Infinity;
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor(private readonly desk: Desk) {
    const body = h('tbody');
    this.rows = new Keyed(
      body,
      ({ id }) => id,
      (first) => this.row(first),
    );
    this.fill(this.classes, []);
    this.stages.append(...['', ...QUEUES].map((value) => h('option', { value }, value || 'all stages')));
    const filters = h(
      'div',
      { class: 'filters' },
      field('Search', this.search),
      field('Class', this.classes),
      field('Stage', this.stages),
      button('Refresh', () => void this.ask()),
    );
    this.details = h(
      'details',
      { class: 'queue' },
      h('summary', {}, 'Show the queue'),
      filters,
      this.shown,
      h(
        'p',
        { class: 'hint' },
        `The list is asked for again every ${REFRESH_EVERY}\u00a0s while it is open. Ids are those of requests: “Class of a session” wants the id of a session, session_id of the access log.`,
      ),
      table('Requests that wait', ['Waits for', 'Class', 'Stage', 'Client', 'Method', 'Path', 'Id'], body),
      h('div', { class: 'actions' }, this.previous, this.next),
    );
    this.details.addEventListener('toggle', () => {
      if (this.details.open) void this.ask();
    });
    this.search.addEventListener('input', () => {
      this.take('search', this.search.value, REST);
    });
    this.classes.addEventListener('change', () => {
      this.take('class', this.classes.value, 0);
    });
    this.stages.addEventListener('change', () => {
      this.take('stage', this.stages.value, 0);
    });
    this.root = section('queue', 'Who waits now', this.summary, this.details);
  }

  render(): void {
    const { store } = this.desk;
    this.fill(this.classes, store.classes);
    if (store.state)
      setText(this.summary, summary(store.state, this.details.open ? this.longest : new Map()));
    const late = performance.now() / 1000 - this.asked > REFRESH_EVERY;
    if (this.details.open && late && store.connection.kind === 'live') void this.ask();
  }

  private fill(select: HTMLSelectElement, names: string[]): void {
    const key = JSON.stringify(names);
    if (select.dataset.names === key) return;
    select.dataset.names = key;
    const { value } = select;
    select.replaceChildren(
      ...['', ...names].map((name) => h('option', { value: name }, name || 'all classes')),
    );
    if (names.includes(value)) select.value = value;
  }

  private turn(by: number): void {
    this.wanted.offset = Math.max(0, this.wanted.offset + by);
    void this.ask();
  }

  private take(name: 'class' | 'stage' | 'search', value: string, rest: number): void {
    this.wanted[name] = value;
    this.wanted.offset = 0;
    clearTimeout(this.timer);
    this.timer = setTimeout(() => void this.ask(), rest);
  }

  private async ask(): Promise<void> {
    this.asking?.abort();
    const mine = new AbortController();
    this.asking = mine;
    this.asked = performance.now() / 1000;
    try {
      this.show(await this.desk.gate.queue(this.wanted, mine.signal));
    } catch (error) {
      if (!mine.signal.aborted && !isAbort(error)) setText(this.shown, `Not refreshed: ${why(error)}.`);
    }
  }

  private show({ waiting, requests }: Queue): void {
    this.rows.show(requests);
    const { offset, ...filters } = this.wanted;
    const filtered = Object.values(filters).some((value) => value !== '');
    if (!filtered && offset === 0) this.note(requests);
    this.previous.disabled = offset === 0;
    this.next.disabled = offset + requests.length >= waiting;
    // They have been served meanwhile: the last page is an earlier one now.
    if (requests.length === 0 && offset > 0)
      this.turn(Math.floor((waiting - 1) / QUEUE_LIMIT) * QUEUE_LIMIT - offset);
    const which = filtered ? 'that match' : 'that wait';
    const time = timeOf(this.desk.store.now);
    const after = offset > 0 ? `, after the first ${count(offset)}` : '';
    setText(
      this.shown,
      `${count(requests.length)} of ${count(waiting)} ${which} are shown${after}, the longest waits first; at ${time}.`,
    );
  }

  /** The longest come first, so the first of a class is its longest. */
  private note(requests: QueuedRequest[]): void {
    this.longest.clear();
    for (const { class: name, age } of requests) {
      if (name != null && !this.longest.has(name)) this.longest.set(name, age);
    }
    this.desk.store.changed();
  }

  private row(first: QueuedRequest): { element: HTMLElement; update: (request: QueuedRequest) => void } {
    const [age, name, stage] = [h('td'), h('td', { class: 'words' }), h('td', { class: 'words' })];
    const only = button(
      first.client,
      () => {
        this.search.value = first.client;
        this.take('search', first.client, 0);
      },
      { class: 'plain', title: 'Show only what waits for this client' },
    );
    const element = h(
      'tr',
      {},
      age,
      name,
      stage,
      h('td', { class: 'words' }, only),
      h('td', { class: 'words' }, first.method),
      h('td', { class: 'words path' }, first.path),
      h('td', { class: 'words' }, first.id),
    );
    const update = (request: QueuedRequest): void => {
      setText(age, about(request.age));
      setText(name, request.class ?? 'not known');
      setText(stage, request.stage ?? 'changing');
    };
    return { element, update };
  }
}

/** How many wait, by class and by stage. Only in the last stages a class is known. */
export function summary({ classes, queues }: State, longest: ReadonlyMap<string, number>): string {
  const each = classes.flatMap(({ name, queued, held_back: held }) => {
    const all = queued + held;
    if (all === 0) return [];
    const where =
      held === 0
        ? 'all in the class queue'
        : queued === 0
          ? 'all held back (discard)'
          : `${count(queued)} in the class queue, ${count(held)} held back (discard)`;
    const age = longest.get(name);
    return `${name} ${count(all)}, ${where}${age === undefined ? '' : `; longest ${about(age)}`}`;
  });
  const early = (['acceptor', 'pending'] as const).filter((stage) => queues[stage] > 0);
  const unknown = early.map((stage) => `${stage} ${count(queues[stage])}`).join(', ');
  const words = [...each, ...(unknown === '' ? [] : [`class not known yet: ${unknown}`])];
  return words.length > 0 ? `${words.join('. ')}.` : 'Nobody waits.';
}

export function field(label: string, input: HTMLElement): HTMLElement {
  return h('div', { class: 'field' }, h('label', { for: input.id }, label), input);
}
