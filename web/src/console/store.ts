import { Counts } from './counts.ts';
import { Samples } from './samples.ts';
import type { Change, Knobs, State } from './schemas.ts';

/** How the gate is reached. */
export type Connection =
  | { kind: 'connecting' }
  | { kind: 'live'; polling: string | null }
  | { kind: 'lost'; since: number; why: string; next: number };

/** Something that happened, other than a change by an operator. */
export interface Happening {
  /** Tells it from others of the same moment. */
  id: number;
  at: number;
  /** Of the last of several alike, which are one entry. */
  until: number;
  event: string;
  data: unknown;
  times: number;
}

/** A question to the gate: which of all, and when by the browser's clock. */
export interface Asked {
  order: number;
  at: number;
}

const MOST_HAPPENINGS = 200;
const MOST_CHANGES = 500;

/** What is known of the gate; whoever shows it is told when it changes. */
export class Store {
  state: State | null = null;
  readonly samples = new Samples();
  readonly counts = new Counts();
  connection: Connection = { kind: 'connecting' };
  /** Newest first. */
  changes: Change[] = [];
  happenings: Happening[] = [];
  /** When the gate was seen to have been restarted. */
  restarted: number | null = null;
  /** Seconds that the gate's clock is ahead of the browser's. */
  private ahead = 0;
  private readonly listeners: (() => void)[] = [];
  private happeningsSeen = 0;
  private asked = 0;
  /** Answers to earlier questions than these are not of now. */
  private readonly least = { state: 0, changes: 0 };
  /** A question from here on tells of all changes that are known to have been made. */
  private changesDue = 0;
  /** Which question the list of changes answers. */
  private changesTaken = 0;
  /** Of which run of the gate the list of changes is; `null` until there is one. */
  changesOf: number | null = null;

  listen(listener: () => void): void {
    this.listeners.push(listener);
  }

  changed(): void {
    for (const listener of this.listeners) listener();
  }

  /** The gate's time, unix s. */
  get now(): number {
    return Date.now() / 1000 + this.ahead;
  }

  /** Seconds that the browser's clock is ahead of the gate's. */
  get clockError(): number {
    return -this.ahead;
  }

  /** Notes that something is asked now: answers may come in another order. */
  ask(): Asked {
    this.asked += 1;
    return { order: this.asked, at: Date.now() / 1000 };
  }

  /** This page has changed the gate: what was asked before may be of before. */
  overtake(): void {
    const { order } = this.ask();
    Object.assign(this.least, { state: order, changes: order });
    this.changesDue = order;
  }

  /** A change has been told of, which only a question from now on tells all of. */
  expectChange(): void {
    this.changesDue = this.ask().order;
  }

  /** Whether a change has been made that is not in the list: it has to be asked for. */
  get isBehind(): boolean {
    return this.changesTaken < this.changesDue;
  }

  private isLate(kind: 'state' | 'changes', { order }: Asked): boolean {
    if (order < this.least[kind]) return true;
    this.least[kind] = order;
    return false;
  }

  /** The gate has looked at its own clock half-way between question and answer. */
  takeState(state: State, asked: Asked): void {
    if (this.isLate('state', asked)) return;
    const now = Date.now() / 1000;
    this.ahead = state.clock - (asked.at + now) / 2;
    if (this.state && this.state.started !== state.started) this.restarted = this.now;
    this.state = state;
    this.counts.take(state);
    this.changed();
  }

  takeKnobs(knobs: Knobs): void {
    if (this.state) this.state = { ...this.state, knobs };
    this.changed();
  }

  takeChanges(changes: Change[], asked: Asked): void {
    if (this.isLate('changes', asked)) return;
    this.changesTaken = asked.order;
    this.changesOf = this.state?.started ?? null;
    this.changes = changes.slice(0, MOST_CHANGES);
    this.changed();
  }

  connect(connection: Connection): void {
    this.connection = connection;
    this.changed();
  }

  /** Refusals come every second while there are any: such are one entry, with how often. */
  happened(event: string, data: unknown): void {
    const before = this.happenings[0];
    const now = event === 'rejections' ? tally(data as Told) : data;
    if (before?.event === event && event === 'rejections' && this.now - before.until < 5) {
      add(before.data as Rejections, now as Rejections);
      Object.assign(before, { until: this.now, times: before.times + 1 });
    } else {
      this.happeningsSeen += 1;
      const id = this.happeningsSeen;
      this.happenings.unshift({ id, at: this.now, until: this.now, event, data: now, times: 1 });
      this.happenings.length = Math.min(this.happenings.length, MOST_HAPPENINGS);
    }
    this.changed();
  }

  get mayChange(): boolean {
    return this.state?.operator.may_change ?? false;
  }

  get isShadow(): boolean {
    return this.state?.mode === 'shadow';
  }

  /** The name of the machine, or what it is called here until that is known. */
  get host(): string {
    return this.state?.host ?? location.host;
  }

  /** Names of the classes, most important first. */
  get classes(): string[] {
    return this.state?.classes.map((one) => one.name) ?? this.samples.classes;
  }
}

/** Refusals as the gate tells of them. */
interface Told {
  total: number;
  classes: Record<string, Record<string, number>>;
}

/** Refusals by class and reason. Classes are called as their operator likes, also `__proto__`. */
export interface Rejections {
  total: number;
  classes: Map<string, Map<string, number>>;
}

function tally({ total, classes }: Told): Rejections {
  const each = Object.entries(classes).map(
    ([name, reasons]) => [name, new Map(Object.entries(reasons))] as const,
  );
  return { total, classes: new Map(each) };
}

function add(sum: Rejections, more: Rejections): void {
  sum.total += more.total;
  for (const [name, reasons] of more.classes) {
    const into = sum.classes.get(name) ?? new Map<string, number>();
    sum.classes.set(name, into);
    for (const [reason, count] of reasons) into.set(reason, (into.get(reason) ?? 0) + count);
  }
}
