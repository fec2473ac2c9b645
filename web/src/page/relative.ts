import type { ExperimentReport } from '../report.ts';

/** Whether levels are multiples of the server's capacity, so that 1 means "just full". */
export function isRelativeLoad(report: ExperimentReport): boolean {
  return report.factor.unit === 'x capacity';
}
