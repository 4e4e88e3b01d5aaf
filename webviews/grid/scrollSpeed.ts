/** Moves older than this say nothing about the present speed, in milliseconds. */
const recentMs = 400;
/** A view that has not moved for this time has ended its scroll, in milliseconds. */
const restMs = 150;
/** How long a large page takes to load before one was measured, and at most, in milliseconds. */
const [firstLoadMs, maxLoadMs] = [150, 1_000];
/** Maximum number of pages by which a load runs ahead of the view. */
const maxLead = 24;

/**
 * How fast a view moves over pages that take long to load. A page that is requested when it enters a fast view has left
 * it when it arrives, so that nothing would ever be shown. It has to be requested where the view will be at that time.
 */
export class ScrollSpeed {
  readonly #now: () => number;
  /** Where the view was in the last moments, in pages, the oldest first. */
  #moves: { readonly top: number; readonly at: number }[] = [];
  /** Number of pages in the view. */
  #span = 1;
  #loadMs = firstLoadMs;

  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** The view is from `top` to `bottom` now, in pages with their fractions. */
  move(top: number, bottom: number): void {
    const at = this.#now();
    const before = this.#moves.at(-1);
    this.#span = bottom - top;
    if (before?.top === top) return;
    // A view without a row of the one before has jumped, and will not jump as far again.
    if (before && Math.abs(top - before.top) > this.#span) this.#moves = [];
    this.#moves = [...this.#moves.filter((move) => at - move.at <= recentMs), { top, at }];
  }

  /** A page took some time to load, or was canceled after it. */
  measure(ms: number, isComplete: boolean): void {
    if (isComplete) this.#loadMs = Math.min(maxLoadMs, (this.#loadMs + ms) / 2);
    // Loads that are always canceled would else never tell that they take longer.
    else this.#loadMs = Math.min(maxLoadMs, Math.max(this.#loadMs, ms));
  }

  /**
   * Returns by how many pages the view will have moved when a page arrives that is requested now; negative upwards.
   * Returns 0 if most pages in the view will still be in it.
   */
  get lead(): number {
    const [oldest, newest] = [this.#moves[0], this.#moves.at(-1)];
    if (!oldest || !newest || newest.at === oldest.at || this.#now() - newest.at > restMs) return 0;
    const pages = Math.round(((newest.top - oldest.top) / (newest.at - oldest.at)) * this.#loadMs);
    return Math.abs(pages) < this.#span / 4 ? 0 : Math.max(-maxLead, Math.min(maxLead, pages));
  }
}
