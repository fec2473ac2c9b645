/** A page that nobody has seen for so long need not be kept up to date, s. */
const AWAY = 300;

/** Whether somebody may be looking at the page. */
export class Presence {
  private hiddenSince: number | null = null;
  private readonly waiting = new Set<() => void>();

  constructor() {
    const look = (): void => {
      if (document.hidden) {
        this.hiddenSince ??= performance.now();
        return;
      }
      this.hiddenSince = null;
      for (const resolve of this.waiting) resolve();
      this.waiting.clear();
    };
    document.addEventListener('visibilitychange', look);
    look();
  }

  get isAway(): boolean {
    return this.hiddenSince !== null && performance.now() - this.hiddenSince > AWAY * 1000;
  }

  /** Waits while the page has not been seen for long. */
  async back(): Promise<void> {
    if (!this.isAway) return;
    await new Promise<void>((resolve) => {
      this.waiting.add(resolve);
    });
  }
}
