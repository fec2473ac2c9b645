import type { ExperimentReport } from '../report.ts';
import type { View } from '../view.ts';
import { figures } from './figures.ts';
import { limits } from './limits.ts';
import { method } from './method.ts';
import { opening } from './opening.ts';
import { comparison } from './tables.ts';
import { words } from './words.ts';

export function experiment(report: ExperimentReport): View {
  const judged = limits(report);
  return {
    title: report.title,
    version: report.version,
    opening: opening(report),
    contents: [
      ...(judged ? [[judged.id, 'Limits'] as [string, string]] : []),
      ['completed', 'Sessions completed'],
      ['duration', 'Duration'],
      ['mean', 'Mean'],
      ['goodput', 'Total'],
      ['comparison', 'Side by side'],
      ['method', 'Method'],
      ['words', 'Words'],
    ],
    sections: [
      ...(judged ? [judged] : []),
      figures(report),
      comparison(report),
      method(report),
      words(report),
    ],
  };
}
