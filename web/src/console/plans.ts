import type { Entry } from '../chart/legend.ts';
import type { Unit } from '../report.ts';
import { BOUND, INK, NEUTRAL } from '../chart/palette.ts';
import { lookOf } from './classes.ts';
import type { ClassSample, Sample } from './schemas.ts';

/** One quantity over time, read off each sample. */
export interface Line {
  name: string;
  subject: number;
  of: (sample: Sample) => number | null | undefined;
}

export interface Plan {
  title: string;
  label: string;
  unit: Unit;
  lines: Line[];
  /** Whether classes are so far apart that one would lie on the zero line. */
  isLogarithmic?: boolean;
}

export interface Group {
  id: string;
  title: string;
  /** What the charts of a group have in common. */
  legend: Entry[];
  plans: Plan[];
}

function ofClass(index: number, of: (one: ClassSample) => number | null | undefined): Line['of'] {
  return ({ classes }) => classes[index] && of(classes[index]);
}

/** All that is drawn over time. */
export function groups(classes: string[]): Group[] {
  return [offered(classes), server(), answers(classes)];
}

function offered(classes: string[]): Group {
  return {
    id: 'offered',
    title: 'Offered and served, by class',
    legend: [
      { name: 'Offered', subject: NEUTRAL },
      ...classes.map((name, i) => ({ name: `${name} served`, subject: lookOf(i) })),
    ],
    plans: classes.map((name, i) => ({
      title: name,
      label: 'Requests',
      unit: 'rate',
      lines: [
        { name: 'Offered', subject: NEUTRAL, of: ofClass(i, (one) => one.offered) },
        { name: 'Served', subject: lookOf(i), of: ofClass(i, (one) => one.served) },
      ],
    })),
  };
}

function server(): Group {
  return {
    id: 'server',
    title: 'The server',
    legend: [
      { name: 'Goodput, in service', subject: INK },
      { name: 'Capacity, window', subject: BOUND },
    ],
    plans: [
      {
        title: 'Goodput and capacity',
        label: 'Requests',
        unit: 'rate',
        lines: [
          { name: 'Goodput', subject: INK, of: (sample) => sample.finished },
          { name: 'Capacity', subject: BOUND, of: (sample) => sample.capacity },
        ],
      },
      {
        title: 'In service and window',
        label: 'Requests',
        unit: 'number',
        lines: [
          { name: 'In service', subject: INK, of: (sample) => sample.in_service },
          { name: 'Window', subject: BOUND, of: (sample) => sample.window },
        ],
      },
    ],
  };
}

function answers(classes: string[]): Group {
  const each = (of: (one: ClassSample) => number | null | undefined): Line[] =>
    classes.map((name, i) => ({ name, subject: lookOf(i), of: ofClass(i, of) }));
  const unknown = { name: 'class not known', subject: NEUTRAL };
  return {
    id: 'answers',
    title: 'Responses and refusals',
    legend: [...classes.map((name, i) => ({ name, subject: lookOf(i) })), unknown],
    plans: [
      {
        title: '95\u00a0% within',
        label: 'Response',
        unit: 'seconds',
        lines: each((one) => one.p95),
        isLogarithmic: true,
      },
      {
        title: 'Refused',
        label: 'Requests',
        unit: 'rate',
        lines: [...each((one) => one.refused), { ...unknown, of: (sample) => sample.unclassified }],
      },
    ],
  };
}
