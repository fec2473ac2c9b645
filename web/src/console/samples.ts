import type { ClassSample, History, Sample, Waits } from './schemas.ts';

/** An hour of seconds. */
export const MOST_SAMPLES = 3600;

/** The last hour, bounded: a tab may stay open for days. */
export class Samples {
  classes: string[] = [];
  list: Sample[] = [];
  /** Rises with every change, so that charts know whether to draw. */
  version = 0;

  /** Begins anew with what the gate has. */
  load(history: History): void {
    this.classes = history.classes;
    this.list = history.samples.slice(-MOST_SAMPLES);
    this.version += 1;
  }

  /** Adds what is newer than all that is there. */
  add(...samples: Sample[]): void {
    for (const sample of samples) {
      if (sample.at <= (this.list.at(-1)?.at ?? -Infinity)) continue;
      this.list.push(sample);
      if (this.list.length > MOST_SAMPLES) this.list.shift();
      this.version += 1;
    }
  }

  get last(): Sample | undefined {
    return this.list.at(-1);
  }

  /** Those of the last seconds before the newest. */
  recent(seconds: number): Sample[] {
    const from = (this.last?.at ?? 0) - seconds;
    const first = this.list.findLastIndex((sample) => sample.at <= from);
    return this.list.slice(first + 1);
  }
}

/** The least that a plot shows, s. */
const SHORTEST = 10;

/** From when on the last seconds until `to` are plotted: not from before anything is known. */
export function beginning(samples: Sample[], to: number, seconds: number): number {
  const first = samples[0]?.at ?? -Infinity;
  return Math.max(to - seconds, Math.min(first, to - SHORTEST));
}

/** A class over several samples; rates are means over time. */
export interface Lately {
  name: string;
  offered: number;
  served: number;
  refused: number;
  /** Of requests whose clients went away first. */
  aborted: number;
  queued: number;
  waits: Waits | null;
}

export function lately(samples: Sample[], name: string, index: number): Lately {
  const time = samples.reduce((sum, sample) => sum + sample.span, 0);
  const mean = (of: (sample: ClassSample) => number): number =>
    time === 0
      ? 0
      : samples.reduce((sum, { span, classes }) => {
          const one = classes[index];
          return one ? sum + of(one) * span : sum;
        }, 0) / time;
  return {
    name,
    offered: mean((one) => one.offered),
    served: mean((one) => one.served),
    refused: mean((one) => one.refused),
    aborted: mean((one) => one.aborted),
    queued: samples.at(-1)?.classes[index]?.queued ?? 0,
    waits: samples.findLast((sample) => sample.classes[index]?.waits)?.classes[index]?.waits ?? null,
  };
}

/** What came to the gate, of whatever class, and what the server could do, over several samples. */
export function pressed(samples: Sample[]): { offered: number; capacity?: number } {
  const time = samples.reduce((sum, { span }) => sum + span, 0);
  const came = samples.reduce(
    (sum, { span, classes, unclassified }) =>
      sum + span * classes.reduce((all, { offered }) => all + offered, unclassified),
    0,
  );
  const capacity = samples.findLast((sample) => sample.capacity != null)?.capacity;
  return { offered: time > 0 ? came / time : 0, ...(capacity == null ? {} : { capacity }) };
}
