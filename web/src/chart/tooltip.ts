import type uPlot from 'uplot';
import { h } from '../dom.ts';
import { interval } from '../format.ts';
import { swatch } from './legend.ts';
import type { PanelSpec } from './spec.ts';

/** Shows the exact figures of the level under the pointer, and says them to a screen reader on request. */
export class Tooltip {
  readonly box = h('div', { class: 'tooltip', hidden: true });
  readonly spoken = h('div', { class: 'hidden', 'aria-live': 'polite' });

  constructor(
    private readonly spec: PanelSpec,
    private readonly hidden: ReadonlySet<number>,
  ) {}

  follow(plot: uPlot): void {
    const { idx, left } = plot.cursor;
    const level = idx === null || idx === undefined ? undefined : this.spec.levels[idx];
    const outside = left === undefined || left < 0;
    this.box.hidden = !level || outside;
    if (!level || outside || typeof idx !== 'number') return;
    this.box.replaceChildren(h('strong', {}, level.words), ...this.rows(idx));
    const at = plot.valToPos(level.x, 'x');
    const width = this.box.offsetWidth;
    const room = plot.over.clientWidth;
    const wanted = at > room / 2 ? at - width - 14 : at + 14;
    // A box wider than the room beside the point is better over the point than off the page.
    this.box.style.left = `${Math.max(-40, Math.min(wanted, room - width))}px`;
    this.box.style.top = '8px';
  }

  say(index: number): void {
    const level = this.spec.levels[index];
    const readings = this.readings(index).map((r) => [r.name, r.value, ...r.details].join(', '));
    this.spoken.textContent = level ? `${level.words}: ${readings.join('; ')}` : '';
  }

  private rows(index: number): HTMLElement[] {
    return this.readings(index).map((reading) =>
      h(
        'div',
        { class: 'reading' },
        swatch(reading.subject),
        h('span', {}, reading.name),
        h('span', { class: 'value' }, reading.value),
        ...reading.details.map((detail) => h('span', { class: 'detail' }, detail)),
      ),
    );
  }

  private readings(index: number): Reading[] {
    const { curves, format } = this.spec;
    return curves
      .filter((curve) => !this.hidden.has(curve.subject))
      .map(({ name, subject, points }) => {
        const point = points[index];
        if (!point) return { name, subject, value: 'not measured', details: [] };
        const { estimate, counts } = point;
        const details = [`95\u00a0% interval ${interval(estimate, format)}`, counts];
        return { name, subject, value: format(estimate.value), details };
      });
  }
}

/** One curve at one level, in words. */
interface Reading {
  name: string;
  subject: number;
  value: string;
  details: string[];
}
