import type { Data } from './report.ts';

/** Reads the data that the page carries; throws when it carries none. */
export function readData(): Data {
  const text = document.getElementById('data')?.textContent ?? 'null';
  const data = JSON.parse(text) as Data | null;
  if (data === null) {
    throw new Error('This page is the empty form of a report: `headworks report DIR` fills it.');
  }
  return data;
}
