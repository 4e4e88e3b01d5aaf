/** Maximum rows of a batch, for very fast functions. */
export const mostRows = 1024;
/** Rows of the first batch. */
const firstRows = 8;
/** Target duration of a batch. It is short enough to show progress and to lose little if a job is cancelled. */
const wantedSeconds = 0.25;

/**
 * Adapts the batch size so that a batch takes a quarter of a second, like the Python driver. Batches are larger if
 * fewer rows take hardly less time, as with functions that take batches or wait for many rows at once.
 */
export class BatchSize {
  readonly #most: number;
  #rows: number;
  /** Minimum number of rows, because fewer rows take hardly less time. */
  #least = 1;
  /**
   * Number of batches of similar size until `#least` starts to shrink. A comparison of speeds that sets `#least` resets
   * this number to `#patience`.
   */
  #wait = 0;
  #patience = 8;
  /** Only the last measurement is kept, because the speed may change. */
  #other: { readonly rows: number; readonly rate: number } | undefined;

  /** @param most maximum rows, if below the general limit */
  constructor(most: number) {
    this.#most = Math.max(1, Math.min(most, mostRows));
    this.#rows = Math.min(firstRows, this.#most);
  }

  get rows(): number {
    return this.#rows;
  }

  /** Adjusts the size. A batch of an outdated size counts only if it was smaller and still took too long. */
  took(rows: number, seconds: number): void {
    if (rows > this.#rows || (rows < this.#rows && seconds < wantedSeconds)) return;
    this.#compare(rows, rows / Math.max(seconds, 1e-6));
    const fitting = Math.floor((rows * wantedSeconds) / Math.max(seconds, 1e-6));
    const wanted = Math.max(this.#least, Math.min(this.#rows * 8, fitting));
    this.#rows = Math.max(1, Math.min(wanted, this.#most));
  }

  /** Tests whether larger batches are faster, at growing intervals, because a measurement may be noise. */
  #compare(rows: number, rate: number): void {
    const other = this.#other;
    this.#other = { rows, rate };
    if (other && rows > other.rows / 2 && rows < other.rows * 2) {
      if (--this.#wait <= 0) this.#least = Math.max(1, Math.floor(this.#least * 0.8));
      return;
    }
    if (!other) return;
    if (rows < other.rows && rate < other.rate * 0.6) {
      this.#least = other.rows;
      this.#patience *= 2;
    } else if (rows > other.rows && rows <= this.#least && rate > other.rate * 1.5) {
      this.#least = Math.min(rows * 2, this.#most);
    } else return;
    this.#wait = this.#patience;
  }
}
