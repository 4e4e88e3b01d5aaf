/**
 * Seconds to write a row, until a commit of the run has measured it. Measured with a table of a million rows and an
 * integer column on a local disk.
 */
const typicalRowSeconds = 1e-5;

type ComputedSoFar = {
  /** Rows that this run has computed. */
  readonly computed: number;
  /** Rows that an earlier run has computed. */
  readonly reused: number;
  readonly total: number;
  readonly computeSeconds: number;
};

/**
 * Measures how a run writes computed rows to the table. Only some runners write rows in a separate step, which can take
 * longer than computing. Their progress counts each row twice: when it is computed, and when it is written.
 */
export class WritePhase {
  #isSeparate = false;
  #written = 0;
  #milliseconds = 0;
  #current: { readonly at: number; readonly rows: number } | undefined;
  #share = 0;

  /** Whether the runner writes rows in a separate step. */
  get isSeparate(): boolean {
    return this.#isSeparate;
  }

  get isWriting(): boolean {
    return this.#current !== undefined;
  }

  /** Rows that are in the table. */
  get written(): number {
    return this.#written;
  }

  /** Rows of the current step; 0 between two steps. */
  get rowsNow(): number {
    return this.#current?.rows ?? 0;
  }

  plan(isSeparate: boolean): void {
    this.#isSeparate = isSeparate;
  }

  start(at: number, rows: number): void {
    this.#current = { at, rows };
  }

  finish(at: number, rows: number): void {
    if (this.#current) this.#milliseconds += Math.max(0, at - this.#current.at);
    this.#current = undefined;
    this.#written += rows;
  }

  /** Milliseconds before `now` that the run spent on writing rows, and so finished no row. */
  millisecondsUntil(now: number): number {
    return this.#milliseconds + (this.#current ? Math.max(0, now - this.#current.at) : 0);
  }

  /**
   * Returns the seconds for the rows that are not written. `undefined` if the current step has no estimate: it is the
   * first step, or it takes longer than earlier ones.
   */
  secondsLeft(total: number, now: number): number | undefined {
    const unwritten = Math.max(0, total - this.#written);
    if (!this.#current) return unwritten * this.#rowSeconds;
    const expected = this.#current.rows * this.#rowSeconds;
    const passed = (now - this.#current.at) / 1000;
    if (this.#written === 0 || passed > expected) return undefined;
    return unwritten * this.#rowSeconds - passed;
  }

  /**
   * Updates the finished share of computing and writing. Each is weighted by the time that it takes. The share never
   * decreases, although these times change.
   */
  update({ computed, reused, total, computeSeconds }: ComputedSoFar): void {
    if (total === 0) return;
    const writeSeconds = total * this.#rowSeconds;
    // Computing time of all rows, if it continues as before.
    const expected = computed === 0 ? 0 : (computeSeconds * Math.max(0, total - reused)) / computed;
    const seconds = writeSeconds + expected;
    // Both can take no measurable time, for instance if all rows were computed by an earlier run.
    const weight = seconds === 0 ? 1 : writeSeconds / seconds;
    const done = Math.min(total, computed + reused);
    const share = (done * (1 - weight) + Math.min(total, this.#written) * weight) / total;
    this.#share = Math.max(this.#share, share);
  }

  get share(): number {
    return this.#share;
  }

  get #rowSeconds(): number {
    return this.#written === 0 ? typicalRowSeconds : this.#milliseconds / 1000 / this.#written;
  }
}
