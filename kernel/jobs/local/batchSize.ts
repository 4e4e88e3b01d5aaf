/** Rows that a worker gets at a time at most, of a function that takes no time. */
export const mostRows = 1024;
/** Rows of the first batch. */
const firstRows = 8;
/** What a batch is to take: progress is seen, and little is lost where a job is ended. */
const wantedSeconds = 0.25;

/**
 * How many rows a function gets at once: such as take a quarter of a second. The driver in Python does the same. Where fewer
 * rows take hardly less time, as of a function that waits for many rows together or is given batches, there are more.
 */
export class BatchSize {
  readonly #most: number;
  #rows: number;
  /** Fewer are of no use. */
  #least = 1;
  /** Batches until that is doubted, and how many it was the last time. */
  #wait = 0;
  #patience = 8;
  /** The last measure: an older one would be of a function that was faster then, or slower. */
  #other: { readonly rows: number; readonly rate: number } | undefined;

  /** @param most rows, if that is less than what is taken otherwise */
  constructor(most: number) {
    this.#most = Math.max(1, Math.min(most, mostRows));
    this.#rows = Math.min(firstRows, this.#most);
  }

  get rows(): number {
    return this.#rows;
  }

  /** Learns from a batch. Those that were cut before the last one was learned from say nothing new. */
  took(rows: number, seconds: number): void {
    if (rows > this.#rows || (rows < this.#rows && seconds < wantedSeconds)) return;
    this.#compare(rows, rows / Math.max(seconds, 1e-6));
    const fitting = Math.floor((rows * wantedSeconds) / Math.max(seconds, 1e-6));
    const wanted = Math.max(this.#least, Math.min(this.#rows * 8, fitting));
    this.#rows = Math.max(1, Math.min(wanted, this.#most));
  }

  /** Finds out whether more rows at once are faster. It is tried anew now and then, ever less often: it may have been noise. */
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
