import { h } from '../dom.ts';
import type { Tokens } from './client.ts';
import { button, setText } from './elements.ts';

/** Kept for this tab only. */
const KEY = 'headworks-token';

/** Asks for a token where the gate wants one, and again when it is no longer accepted. */
export class TokenForm implements Tokens {
  readonly root: HTMLFormElement;
  current: string | null = sessionStorage.getItem(KEY);
  private readonly words = h('p', { id: 'token-words' });
  private readonly input = h('input', {
    id: 'token',
    type: 'password',
    autocomplete: 'off',
    spellcheck: 'false',
    required: true,
    'aria-describedby': 'token-words',
  });
  private asking: Promise<string> | null = null;
  private answer: (token: string) => void = () => undefined;
  private fail: (why: Error) => void = () => undefined;
  private opener: Element | null = null;
  /** Whether the operator does not want to be asked. */
  private isCancelled = false;

  constructor() {
    this.root = h(
      'form',
      { class: 'token', hidden: true, 'aria-label': 'Sign in' },
      this.words,
      h('label', { for: 'token' }, 'Token'),
      this.input,
      h('button', { class: 'button primary' }, 'Use this token'),
      button('Cancel', () => {
        this.cancel();
      }),
    );
    this.root.addEventListener('submit', (event) => {
      event.preventDefault();
      const token = this.input.value.trim();
      if (token !== '') this.take(token);
    });
  }

  /** All requests that are waiting for a token wait for the same one. */
  replace(rejected: string | null): Promise<string> {
    if (this.isCancelled) return Promise.reject(new Error('no token was given'));
    this.asking ??= this.ask(rejected);
    return this.asking;
  }

  /** From now on the operator may be asked again. */
  askAgain(): void {
    this.isCancelled = false;
  }

  /** Forgets the token of this tab: the next request asks for one. */
  forget(): void {
    sessionStorage.removeItem(KEY);
    this.current = null;
  }

  private ask(rejected: string | null): Promise<string> {
    setText(
      this.words,
      rejected === null
        ? 'This gate wants a token: the second word of its line in the token file. It is kept in this tab only.'
        : 'The gate no longer accepts the token: it has expired, or it is wrong. With another one the page goes on where it was.',
    );
    this.opener = document.activeElement;
    this.root.hidden = false;
    this.input.value = '';
    this.input.focus();
    return new Promise((resolve, reject) => {
      this.answer = resolve;
      this.fail = reject;
    });
  }

  private take(token: string): void {
    // A header holds no more than that.
    if (!/^[\x21-\x7e]+$/.test(token)) {
      setText(this.words, 'That is no token: it has letters, digits and signs of ASCII only, and no spaces.');
      return;
    }
    sessionStorage.setItem(KEY, token);
    this.current = token;
    this.close();
    this.answer(token);
  }

  private cancel(): void {
    this.isCancelled = true;
    this.close();
    this.fail(new Error('no token was given'));
  }

  private close(): void {
    this.asking = null;
    this.root.hidden = true;
    if (this.opener instanceof HTMLElement) this.opener.focus();
  }
}
