import { h } from '../dom.ts';
import { Keyed, section, setText } from './elements.ts';
import type { Desk, Part } from './part.ts';
import type { ClassState } from './schemas.ts';
import { about, counted, rate } from './words.ts';

const ROOM = { path: '/console/waiting-room', words: 'What a visitor sees who has to wait' };
const REFUSAL = { path: '/console/refusal', words: 'What a client sees that is refused' };

/** What becomes of the refused: how long the lines are, if there are any, and what they see. */
export function rooms({ store }: Desk): Part {
  const none = h(
    'p',
    { class: 'hint' },
    'There is no waiting room: refused clients are asked to come back later.',
  );
  const list = h('div', { class: 'rooms' });
  const keyed = new Keyed<ClassState>(list, ({ name }) => name, room);
  const pages = h('div', { class: 'rooms' });
  const waiting = preview(ROOM);
  pages.append(waiting, preview(REFUSAL));
  const root = section('rooms', 'Waiting room', none, list, pages);
  const render = (): void => {
    const has = store.state?.waiting_room === true;
    none.hidden = has;
    list.hidden = !has;
    waiting.hidden = !has;
    keyed.show(has ? (store.state?.classes ?? []) : []);
  };
  return { root, render };
}

function room({ name }: ClassState): { element: HTMLElement; update: (state: ClassState) => void } {
  const words = h('p', {});
  const element = h('article', { 'aria-label': `Waiting room of class ${name}` }, h('h3', {}, name), words);
  const update = ({ waiting_room: { waiting, outflow, longest } }: ClassState): void => {
    setText(
      words,
      waiting > 0
        ? `${counted(waiting, 'visitor')} in line, ${rate(outflow)} let in; the first has waited ${about(longest)}.`
        : 'Nobody is in line.',
    );
  };
  return { element, update };
}

/** A page that clients see, loaded when it is wanted: it is made by the gate. */
function preview({ path, words }: { path: string; words: string }): HTMLElement {
  const into = h('div', { class: 'preview' });
  const details = h('details', {}, h('summary', {}, words), into);
  details.addEventListener('toggle', () => {
    if (details.open) void show(path, words, into);
    else into.replaceChildren();
  });
  return details;
}

async function show(src: string, words: string, into: HTMLElement): Promise<void> {
  try {
    const response = await fetch(src, { cache: 'no-store', signal: AbortSignal.timeout(5000) });
    await response.body?.cancel();
    if (!response.ok) {
      into.replaceChildren(
        h('p', { class: 'hint' }, 'This gate has no such page: the configuration has words of its own.'),
      );
      return;
    }
    into.replaceChildren(
      h(
        'figure',
        {},
        h('iframe', { src, sandbox: '', title: `${words}, with made-up figures` }),
        h(
          'figcaption',
          { class: 'hint' },
          'Preview. Place, wait and number of visitors in it are examples, not those of now.',
        ),
      ),
    );
  } catch {
    into.replaceChildren(h('p', { class: 'hint' }, 'The gate cannot be reached.'));
  }
}
