import type { RowError } from '#shared/jobs/jobEvents.ts';
import type { NewEvent } from '#jobs/runners/runner.ts';
import type { ScannedRows } from './answers.ts';
import { rowError } from './computeRows.ts';
import { rowStates } from './rows.ts';

const interval = 400;
const samplesAFragment = 5;

/** Counts rows. Every 400 ms it emits a progress event if the counts have changed. */
export class ProgressReporter implements Disposable {
  computed = 0;
  reused = 0;
  errors = 0;
  skipped = 0;
  readSeconds = 0;
  writeSeconds = 0;
  /** Seconds that workers spent in the function. */
  computeSeconds = 0;
  readonly #emit: (event: NewEvent) => void;
  readonly #inputs: readonly string[];
  readonly #timer: NodeJS.Timeout;
  #told = '';

  constructor(inputs: readonly string[], emit: (event: NewEvent) => void) {
    this.#inputs = inputs;
    this.#emit = emit;
    this.#timer = setInterval(() => this.tell(), interval);
  }

  add({ rows, errors, read, isReused }: ScannedRows, samples: RowError[]): void {
    if (isReused) {
      this.reused += rows.addresses.length;
      return;
    }
    this.computed += rows.addresses.length;
    rows.states.forEach((state, row) => {
      if (state === rowStates.computed) return;
      this.errors++;
      if (state === rowStates.skipped) this.skipped++;
      if (samples.length < samplesAFragment) samples.push(rowError(read, this.#inputs, row, errors[row] ?? ''));
    });
  }

  tell(): void {
    const { computed: rows, errors, computeSeconds, readSeconds, writeSeconds } = this;
    const seconds = { computeSeconds, readSeconds, writeSeconds };
    const text = `${rows} ${errors} ${writeSeconds}`;
    if (text === this.#told || rows === 0) return;
    this.#told = text;
    this.#emit({ kind: 'progress', rows, errors, ...seconds });
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
  }
}

/** Seconds since a time of `performance.now()`. */
export const secondsSince = (start: number): number => (performance.now() - start) / 1000;
