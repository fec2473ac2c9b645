import { h } from '../dom.ts';
import { Keyed, section, setText } from './elements.ts';
import type { Desk, Part } from './part.ts';
import type { ClassState } from './schemas.ts';
import { about, counted, rate } from './words.ts';

/** Waiting rooms: how long the lines are, and what a visitor sees. */
export function rooms({ store }: Desk): Part {
  const list = h('div', { class: 'rooms' });
  const keyed = new Keyed<ClassState>(list, ({ name }) => name, room);
  const root = section('rooms', 'Waiting rooms', list);
  const render = (): void => {
    keyed.show(store.state?.classes ?? []);
  };
  return { root, render };
}

function room({ name }: ClassState): { element: HTMLElement; update: (state: ClassState) => void } {
  const words = h('p', {});
  const preview = h('div', { class: 'preview' });
  const details = h('details', {}, h('summary', {}, `What a visitor of class ${name} sees`), preview);
  // Loaded when it is wanted: the page is made by the gate.
  details.addEventListener('toggle', () => {
    if (details.open) void show(name, preview);
    else preview.replaceChildren();
  });
  const element = h(
    'article',
    { 'aria-label': `Waiting room of class ${name}` },
    h('h3', {}, name),
    words,
    details,
  );
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

async function show(name: string, into: HTMLElement): Promise<void> {
  const src = `/console/waiting-room?class=${encodeURIComponent(name)}`;
  try {
    const response = await fetch(src, { cache: 'no-store', signal: AbortSignal.timeout(5000) });
    if (!response.ok) {
      into.replaceChildren(h('p', { class: 'hint' }, 'This class has no waiting room page.'));
      return;
    }
    await response.body?.cancel();
    into.replaceChildren(
      h('p', { class: 'hint' }, 'The figures in it are made up.'),
      h('iframe', { src, sandbox: '', title: `Waiting room of class ${name}, with made-up figures` }),
    );
  } catch {
    into.replaceChildren(h('p', { class: 'hint' }, 'The gate cannot be reached.'));
  }
}
