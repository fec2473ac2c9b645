import type { Dialogs } from './dialog.ts';
import type { Gate } from './gate.ts';
import type { Mover } from './knobs/mover.ts';
import type { Store } from './store.ts';
import type { TokenForm } from './token.ts';

/** What every part of the page works with. */
export interface Desk {
  gate: Gate;
  store: Store;
  dialogs: Dialogs;
  mover: Mover;
  /** Asks the gate for its state, after a change. */
  refresh: () => Promise<void>;
  /** Tries to reach the gate again now. */
  tryNow: () => void;
  /** The token of this tab. */
  token: TokenForm;
}

/** A part of the page; `render` shows what the store has now, and is called when that changes. */
export interface Part {
  root: HTMLElement;
  render: () => void;
}
