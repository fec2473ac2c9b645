import type { Entry } from '../chart/legend.ts';
import type { Unit } from '../report.ts';
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
}

export interface Group {
  id: string;
  title: string;
  /** What the charts of a group have in common. */
  legend: Entry[];
  plans: Plan[];
}

/** Goes up and down at every point, where short dashes cannot be followed. */
const LOOKS = [1, 4, 3, 0, 2, 5, 6, 7];

function looks(index: number): number {
  return LOOKS[index % LOOKS.length] ?? 1;
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
      { name: 'Offered', subject: 4 },
      { name: 'Served', subject: 1 },
    ],
    plans: classes.map((name, i) => ({
      title: name,
      label: 'Requests',
      unit: 'rate',
      lines: [
        { name: 'Offered', subject: 4, of: ofClass(i, (one) => one.offered) },
        { name: 'Served', subject: 1, of: ofClass(i, (one) => one.served) },
      ],
    })),
  };
}

function server(): Group {
  return {
    id: 'server',
    title: 'The server',
    legend: [
      { name: 'Goodput, in service', subject: 1 },
      { name: 'Capacity, window', subject: 4 },
    ],
    plans: [
      {
        title: 'Goodput and capacity',
        label: 'Requests',
        unit: 'rate',
        lines: [
          { name: 'Goodput', subject: 1, of: (sample) => sample.finished },
          { name: 'Capacity', subject: 4, of: (sample) => sample.capacity },
        ],
      },
      {
        title: 'In service and window',
        label: 'Requests',
        unit: 'number',
        lines: [
          { name: 'In service', subject: 1, of: (sample) => sample.in_service },
          { name: 'Window', subject: 4, of: (sample) => sample.window },
        ],
      },
    ],
  };
}

function answers(classes: string[]): Group {
  const each = (of: (one: ClassSample) => number | null | undefined): Line[] =>
    classes.map((name, i) => ({ name, subject: looks(i), of: ofClass(i, of) }));
  const unknown = { name: 'class not known', subject: looks(classes.length) };
  return {
    id: 'answers',
    title: 'Responses and refusals',
    legend: [...classes.map((name, i) => ({ name, subject: looks(i) })), unknown],
    plans: [
      { title: '95\u00a0% within', label: 'Response', unit: 'seconds', lines: each((one) => one.p95) },
      {
        title: 'Refused',
        label: 'Requests',
        unit: 'rate',
        lines: [...each((one) => one.refused), { ...unknown, of: (sample) => sample.unclassified }],
      },
    ],
  };
}
