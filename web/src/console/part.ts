import type { Dialogs } from './dialog.ts';
import type { Gate } from './gate.ts';
import type { Store } from './store.ts';

/** What every part of the page works with. */
export interface Desk {
  gate: Gate;
  store: Store;
  dialogs: Dialogs;
  /** Asks the gate for its state, after a change. */
  refresh: () => Promise<void>;
  /** Tries to reach the gate again now. */
  tryNow: () => void;
}

/** A part of the page; `render` shows what the store has now, and is called when that changes. */
export interface Part {
  root: HTMLElement;
  render: () => void;
}
