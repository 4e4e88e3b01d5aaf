import { setTimeout as sleep } from 'node:timers/promises';
import type { OnError } from '#shared/jobs/computedFunction.ts';
import type { ColumnBuilder } from './columnBuilders.ts';
import { failureText, notRun, type RowFailures } from './rowFailures.ts';
import type { Row } from './rows.ts';

export type RowFunction = (row: Row) => unknown;

type RowWork = {
  readonly compute: RowFunction;
  readonly onError: OnError;
  /** Rows in progress at once, for asynchronous functions. */
  readonly concurrency: number;
};

/** Milliseconds before the first retry; doubles with each attempt up to the longest. */
const firstPause = 100;
const longestPause = 10_000;

/**
 * Waits before a retry. The pause is partly random, because rows and batches that fail at the same time often depend on
 * the same overloaded server and should not return to it at the same time.
 * @param attempt from 0
 */
export const retryPause = (attempt: number): Promise<void> =>
  sleep(Math.min(firstPause * 2 ** attempt, longestPause) * (0.5 + Math.random()));

const isThenable = (value: unknown): value is PromiseLike<unknown> =>
  typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function';

/**
 * Runs a function over the rows of a batch. Values go to `column`. Errors go to `failures`, also for values that the
 * column can't hold. If an error ends the job, the remaining rows are marked as not run.
 * @returns undefined for a synchronous function, without a promise, because a promise for each row would cost more than
 * computing most rows
 */
export function computeRows(
  work: RowWork,
  rowAt: (row: number) => Row,
  rows: number,
  column: ColumnBuilder,
  failures: RowFailures,
): Promise<void> | undefined {
  const endsAtError = work.onError.mode === 'fail' || work.onError.mode === 'retry';
  const state = { next: 0, isEnded: false };

  const keep = (row: number, value: unknown): void => {
    try {
      column.set(row, value);
    } catch (error) {
      failed(row, error);
    }
  };
  const failed = (row: number, error: unknown): void => {
    failures.set(row, failureText(error));
    state.isEnded ||= endsAtError;
  };
  const settle = async (row: number, given: PromiseLike<unknown>): Promise<void> => {
    try {
      keep(row, await given);
    } catch (error) {
      if (work.onError.mode === 'retry') await again(row, error, work.onError.attempts);
      else failed(row, error);
    }
  };
  const again = async (row: number, error: unknown, attempts: number): Promise<void> => {
    let last = error;
    for (let attempt = 0; attempt < attempts && !state.isEnded; attempt++) {
      await retryPause(attempt);
      try {
        return keep(row, await work.compute(rowAt(row)));
      } catch (caught) {
        last = caught;
      }
    }
    failed(row, last);
  };

  /** Runs rows until one is asynchronous. */
  const run = (): Promise<void> | undefined => {
    while (state.next < rows && !state.isEnded) {
      const row = state.next++;
      try {
        const given = work.compute(rowAt(row));
        if (isThenable(given)) return settle(row, given);
        keep(row, given);
      } catch (error) {
        if (work.onError.mode === 'retry') return again(row, error, work.onError.attempts);
        failed(row, error);
      }
    }
    return undefined;
  };
  const leaveRest = (): void => {
    for (let row = state.next; row < rows; row++) failures.set(row, notRun);
  };

  const first = run();
  if (first === undefined) {
    leaveRest();
    return undefined;
  }
  const lane = async (begun: Promise<void> | undefined): Promise<void> => {
    for (let waiting = begun; waiting !== undefined; waiting = run()) await waiting;
  };
  const lanes = Array.from({ length: Math.min(work.concurrency, rows) - 1 }, () => lane(run()));
  return Promise.all([lane(first), ...lanes]).then(leaveRest);
}
