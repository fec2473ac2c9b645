import 'uplot/dist/uPlot.min.css';
import './style/base.css';
import './style/chart.css';
import './style/tables.css';
import './style/print.css';
import { FONT } from './chart/axes.ts';
import { readReport } from './data.ts';
import { h } from './dom.ts';
import { figures } from './page/figures.ts';
import { method } from './page/method.ts';
import { opening } from './page/opening.ts';
import { comparison } from './page/tables.ts';
import { words } from './page/words.ts';

const SECTIONS = [
  ['completed', 'Sessions completed'],
  ['duration', 'Duration'],
  ['goodput', 'Total'],
  ['comparison', 'Side by side'],
  ['method', 'Method'],
  ['words', 'Words'],
] as const;

function contents(): HTMLElement {
  return h(
    'nav',
    { 'aria-label': 'On this page' },
    ...SECTIONS.map(([id, name]) => h('a', { href: `#${id}` }, name)),
  );
}

function show(page: HTMLElement): void {
  try {
    const report = readReport();
    document.title = `${report.title} · Headworks`;
    page.append(
      opening(report),
      contents(),
      h('main', {}, figures(report), comparison(report), method(report), words(report)),
      h(
        'footer',
        {},
        `Made by Headworks ${report.version} from the record beside this file; `,
        h('code', {}, 'headworks report'),
        ' makes it again.',
      ),
    );
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    page.append(h('p', { class: 'warning', role: 'alert' }, why));
  }
}

const page = document.getElementById('page');
if (page) {
  // A canvas does not wait for its font, and does not redraw when the font has come.
  void document.fonts.load(FONT).finally(() => {
    show(page);
  });
}
