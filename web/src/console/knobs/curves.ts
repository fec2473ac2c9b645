import { h } from '../../dom.ts';
import { lookOf } from '../classes.ts';
import { Bands, type BandCurve, type BandsSpec } from '../../chart/bands.ts';
import { Legend, type Entry } from '../../chart/legend.ts';
import { INK, onThemeChange } from '../../chart/palette.ts';
import type { Unit } from '../../report.ts';
import { setText } from '../elements.ts';
import type { Estimate, Point, Predicted } from '../schemas.ts';
import { ends } from '../words.ts';
import { KNOBS, type Knob } from './draft.ts';
import type { Known } from './prediction.ts';

interface Quantity {
  title: string;
  label: string;
  unit: Unit;
  /** Nothing where it is not known. */
  of: (predicted: Predicted) => Estimate | null | undefined;
  /** Of all classes, where they can be put together. */
  ofAll?: (point: Point) => Estimate;
  /** Whether classes are so far apart that one would lie on the zero line. */
  isLogarithmic?: boolean;
}

const QUANTITIES: Quantity[] = [
  {
    title: 'Completed sessions',
    label: 'Sessions',
    unit: 'rate',
    of: (one) => one.completed,
    ofAll: (point) => point.throughput,
  },
  {
    title: 'Share completed, of sessions begun',
    label: 'Of sessions begun',
    unit: 'percent',
    of: (one) => one.completion,
  },
  {
    title: '95\u00a0% of responses within',
    label: 'Response',
    unit: 'seconds',
    of: (one) => one.p95,
    isLogarithmic: true,
  },
];

/** The curve of all classes; with one class there is none. */
const TOGETHER: Entry = { name: 'together, sessions/s', subject: INK };

/** What is predicted over the whole of a knob. */
export class Curves {
  readonly root = h('div', { class: 'curves', hidden: true });
  private readonly charts: Bands[];
  private readonly legendHost = h('div');
  private readonly hidden = new Set<number>();
  private legend: Legend | null = null;
  private readonly state = h('span', { class: 'hint' });
  private shown: Known | null = null;

  constructor() {
    this.charts = QUANTITIES.map(
      (quantity) => new Bands(spec(quantity, null), quantity.isLogarithmic ?? false),
    );
    this.root.append(
      h('h3', {}, 'Over the whole knob ', this.state),
      this.legendHost,
      h('div', { class: 'panels' }, ...this.charts.map((chart) => chart.root)),
    );
    onThemeChange(() => {
      this.legend?.render();
      for (const chart of this.charts) chart.redraw();
    });
  }

  /** `state` says what is being done about the points that are not there yet. */
  show(known: Known | null, state: string): void {
    this.root.hidden = known === null;
    setText(this.state, state);
    if (known === this.shown) return;
    this.shown = known;
    if (!known) return;
    const { classes } = known.slider.point;
    const entries = classes.map(({ name }, index): Entry => ({ name, subject: lookOf(index) }));
    this.showLegend(classes.length > 1 ? [...entries, TOGETHER] : entries);
    QUANTITIES.forEach((quantity, i) => this.charts[i]?.replace(spec(quantity, known)));
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

function spec(quantity: Quantity, known: Known | null): BandsSpec {
  const along = known?.along ?? 'differentiation';
  const points = known?.curve ?? [];
  const classes = points[0]?.classes.map((one) => one.name) ?? [];
  const marks = known ? marksOf(known) : [];
  const { ofAll } = quantity;
  const curves = classes.map((name, index) =>
    curveOf({ name, subject: lookOf(index) }, points, along, (point) => {
      const one = point.classes[index];
      return one && quantity.of(one);
    }),
  );
  const isSummed = ofAll !== undefined && classes.length > 1;
  return {
    title: quantity.title,
    xLabel: along === 'favour' ? 'Favour' : 'Differentiation',
    yLabel: quantity.label,
    xLogarithmic: false,
    curves: isSummed ? [...curves, curveOf(TOGETHER, points, along, ofAll)] : curves,
    marks,
    namesAbove: true,
    overload: null,
    words: (x) => `${along} ${x.toFixed(2)}`,
    xTicks: (xs) => xs.map((x) => String(Number(x.toFixed(2)))),
    unit: quantity.unit,
    elsewhere: '',
  };
}

/** Where the slider is; and what is applied, unless the other knob is elsewhere too, so that it is not on this curve. */
function marksOf({ at, applied, along }: Known): BandsSpec['marks'] {
  const slider = { x: at[along], name: 'slider' };
  const isOn = KNOBS.every((knob) => knob === along || Math.abs(applied[knob] - at[knob]) < 1e-6);
  return isOn ? [slider, { x: applied[along], name: 'applied' }].sort((a, b) => a.x - b.x) : [slider];
}

/** Those points at which it is known. */
function curveOf(
  entry: Entry,
  points: Point[],
  along: Knob,
  of: (point: Point) => Estimate | null | undefined,
): BandCurve {
  const known = points.flatMap((point) => {
    const estimate = of(point);
    if (!estimate) return [];
    return { x: point[along], y: { value: estimate.mean, ci: ends(estimate) }, note: '' };
  });
  return { ...entry, points: known };
}
