import { h } from '../dom.ts';
import { unbroken } from '../format.ts';
import { button, setAttribute, setText } from './elements.ts';
import { icon } from './icon.ts';
import type { Desk, Part } from './part.ts';
import type { ClassState, Severity, Verdict as Told } from './schemas.ts';
import type { Store } from './store.ts';
import { pressed } from './samples.ts';
import { duration, operatorOf, rate, share, timeOf, zonedTimeOf } from './words.ts';

/** States in which it has to mean the same before it is announced. */
const STEADY = 2;
/** Offered load is a mean over this long, s. */
const LOAD_OVER = 5;
/** A browser's clock that is further off than this is said, s. */
const CLOCK_ERROR = 5;
/** A class with so small a part of the sessions does not count among them. */
const FEW = 0.01;
/** For so long it is said that the gate was restarted, s. */
const RESTART_SAID = 900;

const SEVERITY: Record<Severity, string> = {
  calm: 'Calm',
  notice: 'Notice',
  warning: 'Warning',
  alarm: 'Alarm',
};

/** Tells tabs apart, and how they are, also while they are not looked at. */
export function keepTitle(store: Store): void {
  const show = (): void => {
    const { kind } = store.connection;
    const brief = kind === 'lost' ? 'Lost' : store.state?.verdict.brief;
    const title = [brief, store.host, 'Headworks'].filter((one) => one !== undefined).join(' · ');
    if (document.title !== title) document.title = title;
  };
  store.listen(show);
}

/** Which gate this is, whether it is reached, and the one sentence to read first. */
export function header(desk: Desk): Part {
  const { store } = desk;
  const facts = h('p', { class: 'facts' });
  const link = h('span', { class: 'link' });
  const name = h('h1');
  const clock = h('time', { class: 'clock' });
  const forget = button('Forget the token', () => {
    desk.token.forget();
    desk.token.askAgain();
    void desk.refresh().catch(() => undefined);
  });
  const verdict = new Verdict();
  const warnings = new Warnings(desk);
  const root = h(
    'header',
    { class: 'top' },
    h('div', { class: 'identity' }, name, facts, h('p', { class: 'line' }, link, clock, forget)),
    verdict.root,
    warnings.root,
  );
  const render = (): void => {
    setText(name, `Gate ${store.host}`);
    setText(facts, words(store));
    forget.hidden = desk.token.current === null;
    const { kind } = store.connection;
    setText(link, LINK[kind](store));
    setAttribute(link, 'data-kind', kind);
    setText(clock, store.state ? zonedTimeOf(store.now) : '');
    verdict.render(store);
    warnings.render();
  };
  return { root, render };
}

const LINK = {
  connecting: () => '○ Connecting',
  live: ({ connection }: Store) =>
    connection.kind === 'live' && connection.polling !== null ? '◐ Live, every 2\u00a0s' : '● Live',
  lost: () => '✕ Connection lost',
};

function words({ state }: Store): string {
  if (!state) return 'headworks gate';
  const mode = state.mode === 'shadow' ? 'shadow mode: nobody is refused' : 'enforcing';
  const name = operatorOf(state.operator.name);
  const who = `you: ${name}${state.operator.may_change ? '' : ', read-only'}`;
  return `headworks ${state.version} · ${mode}${state.draining ? ' · draining' : ''} · ${who} · ${location.host}`;
}

/** The sentence, shown at once, and announced when it has come to mean something else. */
class Verdict {
  private readonly text = h('p', { class: 'words' }, 'Asking the gate how it is …');
  private readonly badge = h('p', { class: 'badge' });
  private readonly spoken = h('div', { class: 'hidden', role: 'status', id: 'announcement' });
  private readonly load = h('p', { class: 'load-words' });
  readonly root = h(
    'div',
    { class: 'verdict' },
    this.badge,
    h('div', { class: 'sentences' }, this.text, this.load),
    this.spoken,
  );
  private announced = '';
  private candidate = { meaning: '', times: 0, at: 0 };

  render(store: Store): void {
    const { state } = store;
    if (!state) return;
    setText(this.load, loadWords(store));
    const { verdict: now, clock } = state;
    setText(this.text, unbroken(now.words));
    if (this.root.dataset.severity !== now.severity) {
      this.root.dataset.severity = now.severity;
      this.badge.replaceChildren(icon(now.severity), SEVERITY[now.severity]);
    }
    this.announce(now, clock);
  }

  private announce({ meaning, words }: Told, at: number): void {
    const { candidate } = this;
    if (candidate.meaning !== meaning) this.candidate = { meaning, times: 1, at };
    else if (candidate.at !== at) Object.assign(candidate, { times: candidate.times + 1, at });
    const first = this.announced === '';
    if (meaning === this.announced || (!first && this.candidate.times < STEADY)) return;
    this.announced = meaning;
    setText(this.spoken, unbroken(words));
  }
}

/** What is asked of the server, against what it can do. */
function loadWords({ samples, state }: Store): string {
  const recent = samples.recent(LOAD_OVER);
  if (recent.length === 0) return '';
  const { offered, capacity = state?.capacity ?? null } = pressed(recent);
  if (capacity === null || capacity <= 0) {
    return `Requests offered: ${rate(offered)}; what the server can do is not known yet.`;
  }
  const sessions = wanted(state?.classes ?? []);
  // Those who are refused ask for no more pages, so there are more users than their requests tell.
  if (offered > capacity && sessions && sessions.requests > offered) {
    const each = Number((sessions.requests / sessions.starts).toPrecision(2));
    return `Users: ${times(sessions.requests / capacity)} what the server can do (${rate(sessions.starts)} begin, for ${each} requests each; it can do ${rate(capacity)}).`;
  }
  return `Requests offered: ${rate(offered)}, ${times(offered / capacity)} what the server can do (${rate(capacity)}).`;
}

function times(ratio: number): string {
  return ratio < 1 ? `${share(ratio)} of` : `${Number(ratio.toPrecision(2))} times`;
}

/** Sessions that begin per second and what they would ask for; nothing where that is not known of a class of which more than a few do. */
function wanted(classes: ClassState[]): { starts: number; requests: number } | null {
  const all = classes.reduce((sum, { session_starts: starts }) => sum + starts, 0);
  const sum = { starts: 0, requests: 0 };
  for (const { session_starts: starts, session_requests: each } of classes) {
    if (starts < FEW * all) continue;
    if (each == null) return null;
    sum.starts += starts;
    sum.requests += starts * each;
  }
  return sum.starts > 0 ? sum : null;
}

/** What the operator has to know about what the page shows. */
class Warnings {
  readonly root = h('div', { class: 'warnings' });
  private readonly lost = h('p', { role: 'alert' });
  private readonly next = h('span', { class: 'next' });
  private readonly lostBox: HTMLElement;
  private readonly others = h('ul', {});

  constructor(private readonly desk: Desk) {
    const again = button('Try now', () => {
      desk.tryNow();
    });
    this.lostBox = h('div', { class: 'warning lost', hidden: true }, this.lost, this.next, again);
    this.root.append(this.lostBox, this.others);
  }

  render(): void {
    const { store } = this.desk;
    const { connection } = store;
    this.lostBox.hidden = connection.kind !== 'lost';
    document.body.classList.toggle('stale', connection.kind === 'lost');
    if (connection.kind === 'lost') {
      const shown = store.state ? ' What is shown is what was known then.' : '';
      setText(this.lost, `Connection lost since ${timeOf(connection.since)}: ${connection.why}.${shown}`);
      const wait = Math.ceil(connection.next - store.now);
      setText(this.next, wait > 0 ? `Next try in ${wait}\u00a0s.` : 'Trying …');
    } else {
      setText(this.lost, '');
    }
    const texts = notes(store);
    if ([...this.others.children].map((one) => one.textContent).join('\n') !== texts.join('\n')) {
      this.others.replaceChildren(...texts.map((text) => h('li', {}, text)));
    }
    this.others.hidden = texts.length === 0;
  }
}

function notes(store: Store): string[] {
  const { connection, state, clockError, restarted } = store;
  const off = Math.abs(clockError) > CLOCK_ERROR;
  return [
    connection.kind === 'live' && connection.polling !== null
      ? `The gate has as many listeners as it takes (${connection.polling}), so it is asked every 2\u00a0s; events are not shown.`
      : '',
    restarted !== null && store.now - restarted < RESTART_SAID
      ? `The gate was restarted; seen at ${timeOf(restarted)}. Its counts and charts begin anew.`
      : '',
    state && off
      ? `The clock of this browser is ${duration(clockError)} ${clockError > 0 ? 'ahead of' : 'behind'} the gate's. All times here are by the gate's clock, in the time zone of this browser.`
      : '',
    state && !state.operator.may_change
      ? 'This token may only read, so all that changes the gate is switched off.'
      : '',
  ].filter((text) => text !== '');
}
