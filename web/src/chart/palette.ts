/**
 * How a subject looks: colour, marker and dash all differ, so that no reader depends on colour.
 * The first five colours are those of Okabe and Ito, which stay apart for every common colour
 * blindness; the style sheet holds their values for light and dark.
 */
export interface Look {
  colour: string;
  marker: Marker;
  dash: number[];
}

export type Marker = 'disc' | 'square' | 'triangle' | 'diamond';

const MARKERS: Marker[] = ['square', 'disc', 'triangle', 'diamond', 'square', 'triangle', 'disc', 'diamond'];
const DASHES = [[7, 4], [], [2, 3], [10, 3, 2, 3], [14, 4], [5, 2], [1, 4], [12, 3, 2, 3, 2, 3]];
const LOOKS = 8;

/** Looks beside those of subjects: of what is of none of them, of what is of all, and of a bound. */
export const NEUTRAL = -1;
export const INK = -2;
export const BOUND = -3;

const OTHERS: Record<number, { variable: string; dash: number[] }> = {
  [NEUTRAL]: { variable: '--ink-soft', dash: [12, 3] },
  [INK]: { variable: '--ink', dash: [] },
  [BOUND]: { variable: '--series-5', dash: [14, 4] },
};

/** The look of the subject with this index, in the theme of now. */
export function look(subject: number): Look {
  const other = OTHERS[subject];
  if (other) return { colour: themed(other.variable), marker: 'disc', dash: other.dash };
  const i = subject % LOOKS;
  return {
    colour: themed(`--series-${i}`),
    marker: MARKERS[i] ?? 'disc',
    dash: DASHES[i] ?? [],
  };
}

/** A colour of the style sheet, in the theme of now. */
export function themed(variable: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(variable).trim();
}

/** Runs `redraw` whenever the colours change: the system's theme, or paper. */
export function onThemeChange(redraw: () => void): void {
  window.matchMedia('(prefers-color-scheme: dark)').addEventListener('change', redraw);
  for (const [event, printing] of [
    ['beforeprint', true],
    ['afterprint', false],
  ] as const) {
    window.addEventListener(event, () => {
      document.documentElement.toggleAttribute('data-printing', printing);
      redraw();
    });
  }
}
