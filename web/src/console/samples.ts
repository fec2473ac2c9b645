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

/** A class over several samples; rates are means over time. */
export interface Lately {
  name: string;
  offered: number;
  served: number;
  refused: number;
  /** Of requests whose clients went away first. */
  aborted: number;
  queued: number;
  /** The highest of the seconds: within it were 95 % in each of them, and so in all together. */
  p95: number | null;
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
  const p95s = samples.flatMap((sample) => sample.classes[index]?.p95 ?? []);
  return {
    name,
    offered: mean((one) => one.offered),
    served: mean((one) => one.served),
    refused: mean((one) => one.refused),
    aborted: mean((one) => one.aborted),
    queued: samples.at(-1)?.classes[index]?.queued ?? 0,
    p95: p95s.length > 0 ? Math.max(...p95s) : null,
    waits: samples.findLast((sample) => sample.classes[index]?.waits)?.classes[index]?.waits ?? null,
  };
}
