import type uPlot from 'uplot';
import { h } from '../dom.ts';
import { swatch, type Sample } from './legend.ts';

/** What a chart has at one place. */
export interface Spot {
  words: string;
  readings: Reading[];
}

/** One curve at one place, in words; `subject` decides the sample of its line, where it has one. */
export interface Reading {
  name: string;
  subject: number | null;
  value: string;
  details: string[];
}

/** Shows the exact figures of the place under the pointer, and says them to a screen reader on request. */
export class Tooltip {
  readonly box = h('div', { class: 'tooltip', hidden: true });
  readonly spoken = h('div', { class: 'hidden', 'aria-live': 'polite' });

  constructor(private readonly sample: Sample) {}

  hide(): void {
    this.box.hidden = true;
  }

  /** `left` in the plot's own pixels. */
  show(plot: uPlot, left: number, spot: Spot): void {
    this.box.hidden = false;
    this.box.replaceChildren(h('strong', {}, spot.words), ...this.rows(spot));
    const width = this.box.offsetWidth;
    const room = plot.over.clientWidth;
    const wanted = left > room / 2 ? left - width - 14 : left + 14;
    // A box wider than the room beside the point is better over the point than off the page.
    this.box.style.left = `${Math.max(-40, Math.min(wanted, room - width))}px`;
    this.box.style.top = '8px';
  }

  say(spot: Spot): void {
    const readings = spot.readings.map((r) => [r.name, r.value, ...r.details].filter(Boolean).join(', '));
    this.spoken.textContent = `${spot.words}: ${readings.join('; ')}`;
  }

  private rows(spot: Spot): HTMLElement[] {
    return spot.readings.map((reading) =>
      h(
        'div',
        { class: 'reading' },
        reading.subject === null ? h('span', {}) : swatch(reading.subject, this.sample),
        h('span', {}, reading.name),
        h('span', { class: 'value' }, reading.value),
        ...reading.details.map((detail) => h('span', { class: 'detail' }, detail)),
      ),
    );
  }
}
