import type { Knobs } from '../schemas.ts';

export function values({ differentiation, favour }: Knobs): string {
  return `differentiation ${differentiation.toFixed(2)}, favour ${favour.toFixed(2)}`;
}
