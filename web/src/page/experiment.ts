import type { Report } from '../data.ts';
import type { View } from '../view.ts';
import { figures } from './figures.ts';
import { method } from './method.ts';
import { opening } from './opening.ts';
import { comparison } from './tables.ts';
import { words } from './words.ts';

export function experiment(report: Report): View {
  return {
    title: report.title,
    version: report.version,
    opening: opening(report),
    contents: [
      ['completed', 'Sessions completed'],
      ['duration', 'Duration'],
      ['mean', 'Mean'],
      ['goodput', 'Total'],
      ['comparison', 'Side by side'],
      ['method', 'Method'],
      ['words', 'Words'],
    ],
    sections: [figures(report), comparison(report), method(report), words(report)],
  };
}
