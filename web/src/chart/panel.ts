import uPlot from 'uplot';
import { h } from '../dom.ts';
import { xAxis, yAxis } from './axes.ts';
import { drawCross, drawInterval, drawMarker, drawRepeat } from './marks.ts';
import { look, themed } from './palette.ts';
import { drawReferences } from './references.ts';
import { highest, lowest, type Curve, type PanelSpec } from './spec.ts';
import { Tooltip } from './tooltip.ts';

const HEIGHT = 310;

/** One chart on the page. Drag zooms, double click or Escape shows all again, arrow keys read the points. */
export class Panel {
  readonly root: HTMLElement;
  private readonly host: HTMLElement;
  private readonly tooltip: Tooltip;
  private readonly hidden = new Set<number>();
  private plot: uPlot | null = null;
  private logarithmic = false;

  constructor(private readonly spec: PanelSpec) {
    this.host = h('div', {
      class: 'plot',
      tabindex: '0',
      role: 'img',
      'aria-label': `${spec.title}: ${spec.yLabel} against ${spec.xLabel}, ${spec.curves.map((c) => c.name).join(' and ')}. Left and right arrow keys read the points; the table below has all of them.`,
    });
    this.tooltip = new Tooltip(spec, this.hidden);
    this.root = h('div', { class: 'panel' }, h('h4', {}, spec.title), this.host, this.tooltip.spoken);
    this.host.addEventListener('keydown', (event) => {
      this.key(event);
    });
    this.host.addEventListener('blur', () => {
      this.point(null);
    });
    new ResizeObserver(() => {
      this.resize();
    }).observe(this.host);
  }

  setHidden(subject: number, hidden: boolean): void {
    if (hidden) this.hidden.add(subject);
    else this.hidden.delete(subject);
    this.spec.curves.forEach((curve, i) => {
      if (curve.subject === subject) this.plot?.setSeries(i + 1, { show: !hidden });
    });
    this.showAll();
  }

  setLogarithmic(logarithmic: boolean): void {
    this.logarithmic = logarithmic;
    this.plot?.destroy();
    this.plot = null;
    this.resize();
  }

  redraw(): void {
    this.plot?.redraw(false, true);
  }

  private resize(): void {
    const width = Math.floor(this.host.clientWidth);
    if (width === 0) return;
    if (this.plot) {
      this.plot.setSize({ width, height: HEIGHT });
    } else {
      this.plot = this.build(width);
      this.showAll();
    }
  }

  private build(width: number): uPlot {
    const { spec } = this;
    const xs = spec.levels.map((level) => level.x);
    const data: uPlot.AlignedData = [
      xs,
      ...spec.curves.map((curve) => curve.points.map((p) => p?.estimate.value ?? null)),
    ];
    const keep: uPlot.Scale.Range = (_plot, min, max) => [min, max];
    const options: uPlot.Options = {
      width,
      height: HEIGHT,
      padding: [22, 12, 0, 0],
      legend: { show: false },
      scales: {
        x: { time: false, auto: false, range: keep },
        // The library's const enum cannot be named from a module that is compiled on its own.
        // eslint-disable-next-line @typescript-eslint/no-unsafe-enum-assignment
        y: { auto: false, range: keep, distr: this.logarithmic ? 3 : 1 },
      },
      axes: [xAxis(spec), yAxis(spec, this.logarithmic)],
      series: [{}, ...spec.curves.map((curve) => series(curve, this.hidden.has(curve.subject)))],
      cursor: {
        x: false,
        y: false,
        drag: { x: true, y: true, uni: 24, dist: 6 },
        points: { size: 15, width: 2, fill: 'transparent', stroke: (_plot, i) => strokeOf(spec, i) },
        bind: {
          dblclick: () => () => {
            this.showAll();
            return null;
          },
        },
      },
      hooks: {
        drawAxes: [
          (plot) => {
            drawReferences(plot, spec);
          },
        ],
        drawSeries: [
          (plot, i) => {
            const curve = spec.curves[i - 1];
            if (curve) drawMarks(plot, curve);
          },
        ],
        setCursor: [
          (plot) => {
            this.tooltip.follow(plot);
          },
        ],
      },
    };
    const plot = new uPlot(options, data, this.host);
    plot.over.append(this.tooltip.box);
    return plot;
  }

  /** The whole picture: every level and every value that is not hidden. */
  private showAll(): void {
    const { plot, spec } = this;
    if (!plot) return;
    const first = spec.levels[0]?.x ?? 0;
    const last = spec.levels.at(-1)?.x ?? 1;
    const margin = (last - first || 1) * 0.09;
    const [min, max] = this.ySpan();
    plot.batch(() => {
      plot.setScale('x', { min: first - margin, max: last + margin });
      plot.setScale('y', { min, max });
    });
  }

  private ySpan(): [number, number] {
    const { spec, hidden } = this;
    if (this.logarithmic) {
      const low = lowest(spec, hidden);
      return Number.isFinite(low) ? [low / 1.4, highest(spec, hidden) * 1.4] : [0.1, 10];
    }
    return spec.ySpan ?? [0, highest(spec, hidden) * 1.08 || 1];
  }

  private key(event: KeyboardEvent): void {
    const last = this.spec.levels.length - 1;
    const at = this.plot?.cursor.idx ?? null;
    switch (event.key) {
      case 'ArrowRight':
        this.point(at === null ? 0 : Math.min(at + 1, last));
        break;
      case 'ArrowLeft':
        this.point(at === null ? last : Math.max(at - 1, 0));
        break;
      case 'Escape':
        this.point(null);
        this.showAll();
        break;
      default:
        return;
    }
    event.preventDefault();
  }

  /** Puts the cursor on a level, or takes it away. */
  private point(index: number | null): void {
    const level = index === null ? undefined : this.spec.levels[index];
    const left = level ? (this.plot?.valToPos(level.x, 'x') ?? -10) : -10;
    this.plot?.setCursor({ left, top: level ? 8 : -10 });
    if (index !== null) this.tooltip.say(index);
  }
}

function series(curve: Curve, hidden: boolean): uPlot.Series {
  return {
    label: curve.name,
    show: !hidden,
    stroke: () => look(curve.subject).colour,
    width: 2,
    dash: look(curve.subject).dash,
    points: { show: false },
  };
}

function strokeOf(spec: PanelSpec, seriesIndex: number): string {
  return look(spec.curves[seriesIndex - 1]?.subject ?? 0).colour;
}

/** Intervals, repeats, excluded tests and markers of one curve, over its line. */
function drawMarks(plot: uPlot, curve: Curve): void {
  const { ctx, bbox } = plot;
  const scale = window.devicePixelRatio;
  const style = look(curve.subject);
  const surface = themed('--surface');
  const x = (value: number): number => plot.valToPos(value, 'x', true);
  const y = (value: number): number => plot.valToPos(value, 'y', true);
  ctx.save();
  ctx.beginPath();
  ctx.rect(bbox.left - 6 * scale, bbox.top - 6 * scale, bbox.width + 12 * scale, bbox.height + 12 * scale);
  ctx.clip();
  plot.data[0].forEach((level, i) => {
    const ci = curve.points[i]?.estimate.ci;
    if (ci) drawInterval(ctx, style.colour, x(level), y(ci[0]), y(ci[1]), scale);
  });
  for (const repeat of curve.repeats) {
    drawRepeat(ctx, style.colour, x(repeat.x) + 9 * scale, y(repeat.y), scale);
  }
  plot.data[0].forEach((level, i) => {
    const point = curve.points[i];
    if (point) drawMarker(ctx, style, surface, x(level), y(point.estimate.value), scale);
  });
  for (const test of curve.excluded) {
    const bottom = bbox.top + bbox.height - 8 * scale;
    drawCross(ctx, style.colour, x(test.x), test.y === null ? bottom : y(test.y), scale);
  }
  ctx.restore();
}
