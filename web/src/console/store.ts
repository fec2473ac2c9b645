import { Samples } from './samples.ts';
import type { Change, Knobs, State } from './schemas.ts';

/** How the gate is reached. */
export type Connection =
  | { kind: 'connecting' }
  | { kind: 'live'; polling: string | null }
  | { kind: 'lost'; since: number; why: string; next: number };

/** Something that happened, other than a change by an operator. */
export interface Happening {
  at: number;
  /** Of the last of several alike, which are one entry. */
  until: number;
  event: string;
  data: unknown;
  times: number;
}

const MOST_HAPPENINGS = 200;
const MOST_CHANGES = 500;

/** What is known of the gate; whoever shows it is told when it changes. */
export class Store {
  state: State | null = null;
  readonly samples = new Samples();
  connection: Connection = { kind: 'connecting' };
  /** Newest first. */
  changes: Change[] = [];
  happenings: Happening[] = [];
  /** When the gate was seen to have been restarted. */
  restarted: number | null = null;
  /** Seconds that the gate's clock is ahead of the browser's. */
  private ahead = 0;
  private readonly listeners: (() => void)[] = [];

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

  /** `asked` is when, by the browser's clock: the gate has looked at its own half-way. */
  takeState(state: State, asked: number): void {
    const now = Date.now() / 1000;
    this.ahead = state.clock - (asked + now) / 2;
    this.state = state;
    this.changed();
  }

  takeKnobs(knobs: Knobs): void {
    if (this.state) this.state = { ...this.state, knobs };
    this.changed();
  }

  takeChanges(changes: Change[]): void {
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
    if (before?.event === event && event === 'rejections' && this.now - before.until < 5) {
      Object.assign(before, { until: this.now, data: added(before.data, data), times: before.times + 1 });
    } else {
      this.happenings.unshift({ at: this.now, until: this.now, event, data, times: 1 });
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

  /** Names of the classes, most important first. */
  get classes(): string[] {
    return this.state?.classes.map((one) => one.name) ?? this.samples.classes;
  }
}

interface Rejections {
  total: number;
  classes: Record<string, Record<string, number>>;
}

function added(before: unknown, more: unknown): Rejections {
  const sum = structuredClone(before) as Rejections;
  const { total, classes } = more as Rejections;
  sum.total += total;
  for (const [name, reasons] of Object.entries(classes)) {
    const into = (sum.classes[name] ??= {});
    for (const [reason, count] of Object.entries(reasons)) into[reason] = (into[reason] ?? 0) + count;
  }
  return sum;
}
