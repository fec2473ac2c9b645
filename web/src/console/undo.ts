import type { Change, State } from './schemas.ts';

/** What a reload sets anew, whatever was set by hand. */
const RELOADED = new Set(['knobs', 'mode']);

/** Whether a change can be undone: only what still is as it has left it, else a later one would be undone with it. */
export function isUndoable(change: Change, changes: Change[], state: State | null): boolean {
  if (change.event === 'reload' || isSame(change.old, change.new)) return false;
  const last = changes.find(({ event, what }) => event === change.event && what === change.what);
  if (last?.id !== change.id) return false;
  const reload = changes.find(({ event }) => event === 'reload');
  if (reload && reload.id > change.id && RELOADED.has(change.event)) return false;
  const current = { mode: state?.mode, drain: state?.draining, knobs: state?.knobs }[change.event as 'mode'];
  return current === undefined || isSame(current, change.new);
}

function isSame(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

export function sessionOf({ event, what }: Change): string | null {
  return event === 'class' ? (/[0-9a-f]{1,16}$/i.exec(what)?.[0] ?? null) : null;
}
