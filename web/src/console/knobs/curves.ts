import { h } from '../../dom.ts';
import { Bands, type BandsSpec } from '../../chart/bands.ts';
import { Legend, type Entry } from '../../chart/legend.ts';
import { onThemeChange } from '../../chart/palette.ts';
import type { Unit } from '../../report.ts';
import type { Estimate, Knobs, Predicted } from '../schemas.ts';
import { ends } from '../words.ts';
import { KNOBS } from './draft.ts';
import type { Known } from './prediction.ts';

interface Quantity {
  title: string;
  label: string;
  unit: Unit;
  /** Nothing where it is not known. */
  of: (predicted: Predicted) => Estimate | null | undefined;
}

const QUANTITIES: Quantity[] = [
  { title: 'Completed sessions', label: 'Sessions', unit: 'rate', of: (one) => one.completed },
  { title: 'Share completed', label: 'Of sessions begun', unit: 'percent', of: (one) => one.completion },
  { title: '95\u00a0% of responses within', label: 'Response', unit: 'seconds', of: (one) => one.p95 },
];

/** What is predicted over the whole of a knob. */
export class Curves {
  readonly root = h('div', { class: 'curves', hidden: true });
  private readonly charts: Bands[];
  private readonly legendHost = h('div');
  private readonly hidden = new Set<number>();
  private legend: Legend | null = null;
  private shown: Known | null = null;

  constructor() {
    this.charts = QUANTITIES.map((quantity) => new Bands(spec(quantity, null, null), false));
    this.root.append(
      h('h3', {}, 'Over the whole knob'),
      this.legendHost,
      h('div', { class: 'panels' }, ...this.charts.map((chart) => chart.root)),
    );
    onThemeChange(() => {
      this.legend?.render();
      for (const chart of this.charts) chart.redraw();
    });
  }

  show(known: Known | null, applied: Knobs | null): void {
    this.root.hidden = known === null;
    if (known === this.shown) return;
    this.shown = known;
    if (!known) return;
    this.showLegend(
      known.foresight.points[0]?.classes.map((one, subject) => ({ name: one.name, subject })) ?? [],
    );
    QUANTITIES.forEach((quantity, i) => this.charts[i]?.replace(spec(quantity, known, applied)));
  }

  private showLegend(entries: Entry[]): void {
    const names = JSON.stringify(entries);
    if (this.legendHost.dataset.names === names) return;
    this.legendHost.dataset.names = names;
    this.legend = new Legend(entries, [], this.hidden, (subject) => {
      if (!this.hidden.delete(subject)) this.hidden.add(subject);
      for (const chart of this.charts) chart.setHidden(subject, this.hidden.has(subject));
    });
    this.legendHost.replaceChildren(this.legend.root);
  }
}

function spec(quantity: Quantity, known: Known | null, applied: Knobs | null): BandsSpec {
  const along = known?.along ?? 'differentiation';
  const other = KNOBS.find((knob) => knob !== along) ?? 'favour';
  // The point that is applied lies on the curve only where the other knob stays as it is.
  const points = (known?.foresight.points ?? []).filter(
    (p) => Math.abs(p[other] - (known?.at[other] ?? 0)) < 1e-6,
  );
  points.sort((a, b) => a[along] - b[along]);
  const classes = points[0]?.classes.map((one) => one.name) ?? [];
  const marks = [
    { x: applied?.[along] ?? 0, name: 'applied' },
    { x: known?.at[along] ?? 0, name: 'slider' },
  ].sort((a, b) => a.x - b.x);
  return {
    title: quantity.title,
    xLabel: along === 'favour' ? 'Favour' : 'Differentiation',
    yLabel: quantity.label,
    xLogarithmic: false,
    curves: classes.map((name, subject) => ({
      name,
      subject,
      points: points.flatMap((point) => {
        const one = point.classes[subject];
        const estimate = one && quantity.of(one);
        if (!estimate) return [];
        return { x: point[along], y: { value: estimate.mean, ci: ends(estimate) }, note: '' };
      }),
    })),
    marks: known ? marks : [],
    overload: null,
    words: (x) => `${along} ${x.toFixed(2)}`,
    xTicks: (xs) => xs.map((x) => String(Number(x.toFixed(2)))),
    unit: quantity.unit,
    elsewhere: '',
  };
}
