/**
 * Which look of the palette each class has, everywhere. What goes up and down at every point cannot be followed in
 * short dashes, so these come last; the sixth is that of bounds.
 */
const LOOKS = [1, 4, 3, 0, 2, 6, 7];

/** The look of a class in charts: its colour, and how its line is drawn. */
export function lookOf(index: number): number {
  return LOOKS[index % LOOKS.length] ?? 1;
}

/** Attributes of an element that is in the colour of a class. */
export function colours(index: number): Record<string, string> {
  return { 'data-look': String(lookOf(index)) };
}
