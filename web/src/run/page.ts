import { head } from '../page/opening.ts';
import { moment, setting } from '../format.ts';
import type { View } from '../view.ts';
import type { RunReport } from '../report.ts';
import { distribution, sizes } from './distribution.ts';
import { method } from './method.ts';
import { steps } from './steps.ts';
import { overview, urls } from './tables.ts';
import { overTime } from './time.ts';
import { words } from './words.ts';

export function run(report: RunReport): View {
  const { summary } = report;
  const parts: [string, HTMLElement | null][] = [
    ['Figures', overview(report)],
    [report.steps.ramp ? 'Rising load' : 'Phases', steps(report)],
    ['Over time', overTime(report)],
    ['Distribution', distribution(report)],
    ['Sizes', sizes(report)],
    ['URLs', urls(report)],
    ['Method', method(report)],
    ['Words', words(report)],
  ];
  const shown = parts.flatMap(([name, root]): { name: string; root: HTMLElement }[] =>
    root ? [{ name, root }] : [],
  );
  const warnings = [
    ...(summary.client.valid ? [] : summary.client.why_invalid.map((why) => `Not valid: ${why}.`)),
    ...report.contradictions,
    ...(summary.interrupted ? ['The run was stopped before its end; this is what had been measured.'] : []),
  ];
  const subject = [report.title, report.load, setting(summary.duration), moment(report.started)]
    .filter((part) => part !== '')
    .join(' · ');
  return {
    title: report.title,
    version: report.version,
    opening: head(subject, report.verdict, warnings),
    contents: shown.map(({ name, root }) => [root.id, name]),
    sections: shown.map(({ root }) => root),
  };
}
