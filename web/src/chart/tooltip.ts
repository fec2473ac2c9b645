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

  say(): void {
    this.spoken.textContent = this.box.textContent;
  }

  private rows(index: number): HTMLElement[] {
    const { format } = this.spec;
    return this.spec.curves
      .filter((curve) => !this.hidden.has(curve.subject))
      .map((curve) => {
        const point = curve.points[index];
        return h(
          'div',
          { class: 'reading' },
          swatch(curve.subject),
          h('span', { class: 'name' }, `${curve.name} `),
          h('span', { class: 'value' }, point ? format(point.estimate.value) : 'not measured'),
          point && h('span', { class: 'detail' }, ` ${interval(point.estimate, format)}; ${point.counts}. `),
        );
      });
  }
}
