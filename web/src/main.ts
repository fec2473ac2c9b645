import 'uplot/dist/uPlot.min.css';
import './style/inter.css';
import './style/serif.css';
import './style/colours.css';
import './style/base.css';
import './style/chart.css';
import './style/tables.css';
import './style/print.css';
import { font } from './chart/axes.ts';
import type { Data } from './report.ts';
import { readData } from './read.ts';
import { h } from './dom.ts';
import { experiment } from './page/experiment.ts';
import { run } from './run/page.ts';
import { search } from './search/page.ts';
import { simulation } from './simulation/page.ts';
import type { View } from './view.ts';
import { watch } from './watch/page.ts';

function contents(view: View): HTMLElement {
  return h(
    'nav',
    { 'aria-label': 'On this page' },
    ...view.contents.map(([id, name]) => h('a', { href: `#${id}` }, name)),
  );
}

function viewOf(data: Data): View {
  switch (data.kind) {
    case 'experiment':
      return experiment(data);
    case 'run':
      return run(data);
    case 'search':
      return search(data);
    case 'simulation':
      return simulation(data);
    case 'watch':
      return watch(data);
  }
}

function show(page: HTMLElement): void {
  try {
    const data = readData();
    const view = viewOf(data);
    document.title = `${view.title} · Headworks`;
    page.append(
      view.opening,
      contents(view),
      h('main', {}, ...view.sections),
      h(
        'footer',
        {},
        `Made by Headworks ${view.version} from the record beside this file; `,
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
  void document.fonts.load(font()).finally(() => {
    show(page);
  });
}
