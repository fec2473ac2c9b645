import { h } from '../dom.ts';
import { why } from './client.ts';
import { setText } from './elements.ts';
import type { Part } from './part.ts';
import type { Store } from './store.ts';

/** Clocks and ages go on without news. */
const TICK = 1000;

/**
 * Shows all parts when something has changed, at most once a frame, and nothing while nobody looks. Gives what takes
 * further parts.
 */
export function keepShown(store: Store, parts: Part[]): (more: Part[]) => void {
  const guarded = parts.map((part) => new Guarded(part));
  let due = false;
  const render = (): void => {
    due = false;
    if (document.hidden) return;
    for (const part of guarded) part.render();
  };
  const soon = (): void => {
    if (due || document.hidden) return;
    due = true;
    requestAnimationFrame(render);
  };
  store.listen(soon);
  setInterval(soon, TICK);
  document.addEventListener('visibilitychange', () => {
    due = false;
    soon();
  });
  render();
  return (more) => {
    guarded.push(...more.map((part) => new Guarded(part)));
    render();
  };
}

/** A part that may fail without the others, and says so: what it shows then is of before. */
class Guarded {
  private readonly words = h('p', { class: 'notice bad', role: 'alert' });

  constructor(private readonly part: Part) {}

  render(): void {
    try {
      this.part.render();
      this.words.remove();
    } catch (error) {
      setText(this.words, `A fault of this page: this part shows what was known before (${why(error)}).`);
      if (!this.words.isConnected) {
        this.part.root.append(this.words);
        console.error(error);
      }
    }
  }
}
