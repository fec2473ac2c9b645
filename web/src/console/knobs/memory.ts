import type { Foresight, Knobs, Point } from '../schemas.ts';
import { same } from './draft.ts';
import type { Measured } from './figures.ts';

/** What was predicted for one setting, and of which load. */
export interface Foretold {
  point: Point;
  /** In which it was said, with others. */
  answer: Foresight;
  /** When it was made, by the gate's clock. */
  made: number;
  /** What was measured then, sessions per second of all classes. */
  sum: Measured | null;
}

/** A load of the last minutes says little of later ones: what is older is forgotten, s. */
const KEPT = 900;
/** Points of one curve are of about the same load: none is older than the newest by more, s. */
const TOGETHER = 150;
const MOST = 200;

/** What was predicted, by the two knobs. */
export class Memory {
  private list: Foretold[] = [];

  /** The last that was said of this setting. */
  find(knobs: Knobs): Foretold | null {
    return this.list.find(({ point }) => same(point, knobs)) ?? null;
  }

  /** The points of a curve. */
  where(is: (point: Point) => boolean): Point[] {
    const found = this.list.filter(({ point }) => is(point));
    const newest = Math.max(...found.map(({ made }) => made));
    return found.filter(({ made }) => newest - made <= TOGETHER).map(({ point }) => point);
  }

  take(answer: Foresight, made: number, sum: Measured | null): void {
    const news = answer.points.map((point): Foretold => ({ point, answer, made, sum }));
    const old = this.list.filter(
      (one) => made - one.made < KEPT && !news.some(({ point }) => same(point, one.point)),
    );
    this.list = [...news, ...old].slice(0, MOST);
  }

  clear(): void {
    this.list = [];
  }
}
