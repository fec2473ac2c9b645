import { h } from '../dom.ts';
import { Legend } from '../chart/legend.ts';
import { onThemeChange } from '../chart/palette.ts';
import { Trace, type TraceLine, type TraceSpec } from '../chart/trace.ts';
import { section, terms } from './elements.ts';
import type { Desk, Part } from './part.ts';
import { groups, type Group, type Plan } from './plans.ts';
import { beginning } from './samples.ts';
import type { Sample } from './schemas.ts';
import type { Store } from './store.ts';
import { operatorOf, timeOf } from './words.ts';

const RANGES = [
  { seconds: 600, name: 'Last 10 minutes' },
  { seconds: 3600, name: 'Last hour' },
];

const TERMS: [string, string][] = [
  ['Goodput', 'requests per second that the server has answered in time for the client that asked.'],
  ['Capacity', 'requests per second that the server can do, as far as the gate has learnt.'],
  ['Window', 'how many requests the gate lets the server work on at a time; in service: how many it does.'],
  ['Class not known', 'refused so early that it was not known whose request it was.'],
];

/** The last ten minutes or the last hour. */
export function charts({ store }: Desk): Part {
  let seconds = 600;
  let drawn = '';
  let shown: LiveGroup[] = [];
  const host = h('div', { class: 'groups' });
  const choice = h('fieldset', { class: 'choice' }, h('legend', { class: 'hidden' }, 'How far back'));
  for (const range of RANGES) {
    const input = h('input', { type: 'radio', name: 'range', checked: range.seconds === seconds });
    input.addEventListener('change', () => {
      seconds = range.seconds;
      render();
    });
    choice.append(h('label', {}, input, range.name));
  }
  const root = section(
    'time',
    'Over time',
    choice,
    h(
      'p',
      { class: 'hint' },
      'Thin vertical lines: changes, and who made them; the log has more. Drag over a plot to zoom, double-click to see all of it again.',
    ),
    host,
    terms(TERMS),
  );
  const render = (): void => {
    const names = JSON.stringify(store.samples.classes);
    if (host.dataset.classes !== names) {
      host.dataset.classes = names;
      shown = groups(store.samples.classes).map((group) => new LiveGroup(group));
      host.replaceChildren(...shown.map((group) => group.root));
    }
    const state = `${store.samples.version} ${seconds} ${store.changesOf ?? ''} ${store.changes[0]?.id ?? ''} ${names}`;
    if (state === drawn) return;
    drawn = state;
    for (const group of shown) group.show(store, seconds);
  };
  onThemeChange(() => {
    for (const group of shown) group.redraw();
  });
  return { root, render };
}

class LiveGroup {
  readonly root: HTMLElement;
  private readonly charts: { plan: Plan; chart: Trace }[];
  private readonly legend: Legend;

  constructor(group: Group) {
    this.charts = group.plans.map((plan) => ({
      plan,
      chart: new Trace(spec(plan), plan.isLogarithmic ?? false),
    }));
    const hidden = new Set<number>();
    const toggle = (subject: number): void => {
      if (!hidden.delete(subject)) hidden.add(subject);
      for (const { chart } of this.charts) chart.setHidden(subject, hidden.has(subject));
    };
    this.legend = new Legend(group.legend, [], hidden, toggle, 'plain');
    const label = `${group.id}-title`;
    this.root = h(
      'figure',
      { id: group.id, 'aria-labelledby': label },
      h(
        'div',
        { class: 'figure-head' },
        h('h3', { id: label }, group.title),
        h('div', { class: 'controls' }, this.legend.root),
      ),
      h('div', { class: 'panels' }, ...this.charts.map(({ chart }) => chart.root)),
    );
  }

  show({ samples, changes, now }: Store, seconds: number): void {
    const to = samples.last?.at ?? now;
    const visible = samples.recent(seconds);
    const extent: [number, number] = [beginning(visible, to, seconds), to];
    const xs = visible.map((sample) => sample.at);
    const boundaries = changes
      .filter(({ at }) => at >= extent[0] && at <= extent[1])
      .map(({ at, event, who }) => ({ x: at, name: `${event}, ${operator(who)}` }))
      .reverse();
    for (const { plan, chart } of this.charts) {
      chart.replace({ xs, lines: lines(plan, visible), boundaries, extent });
    }
  }

  redraw(): void {
    this.legend.render();
    for (const { chart } of this.charts) chart.redraw();
  }
}

/** The name of the token, or the address where there is none. */
function operator(who: string): string {
  return /\((.+)\)$/.exec(who)?.[1] ?? operatorOf(who);
}

function lines(plan: Plan, samples: Sample[]): TraceLine[] {
  return plan.lines.map(({ name, subject, of }) => ({
    name,
    subject,
    ys: samples.map((sample) => of(sample) ?? null),
    bridged: true,
  }));
}

function spec(plan: Plan): TraceSpec {
  return {
    title: plan.title,
    xLabel: 'Time of the day',
    yLabel: plan.label,
    xs: [],
    lines: lines(plan, []),
    words: timeOf,
    xTicks: (xs) => xs.map((x) => timeOf(x).slice(0, x % 60 === 0 ? 5 : 8)),
    byTheClock: true,
    unit: plan.unit,
    elsewhere: '',
    extent: [0, 600],
  };
}
