import { terms } from '../elements.ts';
import type { Knobs } from '../schemas.ts';

export function values({ differentiation, favour }: Knobs): string {
  return `differentiation ${differentiation.toFixed(2)}, favour ${favour.toFixed(2)}`;
}

export function knobTerms(): HTMLElement {
  return terms([
    [
      'Session',
      'the visits of one user, page after page; it is completed when its last request is answered.',
    ],
    ['Lost', 'turned away by the gate, or given up by the user while it waited.'],
    ['95\u00a0% within', 'of 100 responses, 95 took no longer than that.'],
    [
      'Interval',
      'from where to where the figure of some minutes is in 95 of 100 cases. Two predictions are told apart by less, as they are of the same users. Differences below 2\u00a0% of a rate or a tenth of a time are not noticeable.',
    ],
  ]);
}
