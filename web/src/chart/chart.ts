import type uPlot from 'uplot';
import { h } from '../dom.ts';
import type { Sample } from './legend.ts';
import { Tooltip, type Spot } from './tooltip.ts';

const HEIGHT = 310;

/**
 * One chart on the page. Drag zooms, double click or Escape shows all again, arrow keys read what
 * is in it. What it draws, and where, is for the kinds of chart to say.
 */
export abstract class Chart {
  readonly root: HTMLElement;
  protected readonly host: HTMLElement;
  protected readonly tooltip: Tooltip;
  protected readonly hidden = new Set<number>();
  protected plot: uPlot | null = null;
  private at: number | null = null;

  constructor(
    title: string,
    label: string,
    sample: Sample,
    protected logarithmic = false,
  ) {
    this.host = h('div', { class: 'plot', tabindex: '0', role: 'img', 'aria-label': label });
    this.tooltip = new Tooltip(sample);
    this.root = h('div', { class: 'panel' }, h('h4', {}, title), this.host, this.tooltip.spoken);
    this.host.addEventListener('keydown', (event) => {
      this.key(event);
    });
    this.host.addEventListener('blur', () => {
      this.read(null);
    });
    new ResizeObserver(() => {
      this.resize();
    }).observe(this.host);
  }

  /** How many places the arrow keys read. */
  protected abstract get places(): number;
  /** The subject of each curve, in the order of the plot's series. */
  protected abstract get subjects(): number[];
  /** What is at a place; `null` where there is nothing to say. */
  protected abstract spot(place: number): Spot | null;
  /** Where a place is, in the plot's own pixels. */
  protected abstract position(place: number): { left: number; top: number };
  protected abstract build(width: number): uPlot;
  /** The whole picture: everything that is not hidden. */
  protected abstract showAll(): void;

  setHidden(subject: number, hidden: boolean): void {
    if (hidden) this.hidden.add(subject);
    else this.hidden.delete(subject);
    this.subjects.forEach((of, i) => {
      if (of === subject) this.plot?.setSeries(i + 1, { show: !hidden });
    });
    this.showAll();
  }

  setLogarithmic(logarithmic: boolean): void {
    this.logarithmic = logarithmic;
    this.rebuild();
  }

  /** Draws anew what has other curves than before. */
  protected rebuild(): void {
    this.plot?.destroy();
    this.plot = null;
    this.resize();
  }

  /** As the style sheet has it. */
  protected get height(): number {
    return Math.floor(this.host.clientHeight) || HEIGHT;
  }

  redraw(): void {
    this.plot?.redraw(false, true);
  }

  /** Options that every kind of chart has. */
  protected get cursor(): uPlot.Cursor {
    return {
      x: false,
      y: false,
      drag: { x: true, y: true, uni: 24, dist: 6 },
      bind: {
        dblclick: () => () => {
          this.showAll();
          return null;
        },
      },
    };
  }

  /** Shows what is at a place, or nothing. */
  protected follow(place: number | null): void {
    const { plot } = this;
    const spot = place === null ? null : this.spot(place);
    if (!plot || place === null || !spot) this.tooltip.hide();
    else this.tooltip.show(plot, this.position(place).left, spot);
  }

  /** Follows the cursor, for kinds of chart whose places are those on the x axis. */
  protected readonly followCursor = ({ cursor: { idx, left } }: uPlot): void => {
    this.follow(left === undefined || left < 0 ? null : (idx ?? null));
  };

  private resize(): void {
    const width = Math.floor(this.host.clientWidth);
    if (width === 0) return;
    if (this.plot) {
      this.plot.setSize({ width, height: this.height });
    } else {
      this.plot = this.build(width);
      this.plot.over.append(this.tooltip.box);
      this.showAll();
    }
  }

  private key(event: KeyboardEvent): void {
    const last = this.places - 1;
    const { at } = this;
    switch (event.key) {
      case 'ArrowRight':
        this.read(at === null ? 0 : Math.min(at + 1, last));
        break;
      case 'ArrowLeft':
        this.read(at === null ? last : Math.max(at - 1, 0));
        break;
      case 'Escape':
        this.read(null);
        this.showAll();
        break;
      default:
        return;
    }
    event.preventDefault();
  }

  /** Puts the cursor on a place and says what is there, or takes it away. */
  private read(place: number | null): void {
    this.at = place;
    if (!this.plot || place === null) {
      this.plot?.setCursor({ left: -10, top: -10 });
      return;
    }
    this.plot.setCursor(this.position(place));
    const spot = this.spot(place);
    if (spot) this.tooltip.say(spot);
  }
}

/** A range that stays as it was set. */
const keep: uPlot.Scale.Range = (_plot, min, max) => [min, max];

/** A scale whose range the chart sets itself. */
export function scale(logarithmic: boolean): uPlot.Scale {
  // The library's const enum cannot be named from a module that is compiled on its own.
  // eslint-disable-next-line @typescript-eslint/no-unsafe-enum-assignment
  return { auto: false, range: keep, distr: logarithmic ? 3 : 1 };
}
