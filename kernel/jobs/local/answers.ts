import type { BatchSize } from './batchSize.ts';
import { computeBySql, noRowErrors, type ComputedBatch, type Compute, type Computing } from './computeRows.ts';
import { ReusableRows, type Reusable } from './reusable.ts';
import { hashesOf, sliceRead, rowRuns, type ReadRows } from './rows.ts';
import { scanRows, type ScanRequest } from './scanRows.ts';
import { sqlRows } from './sqlRows.ts';

/** Rows of one fragment with values, in the order of their addresses. */
export type ScannedRows = ComputedBatch & {
  readonly read: ReadRows;
  /** Whether an earlier run computed these rows. */
  readonly isReused: boolean;
};

export type AnswerRequest = ScanRequest & {
  readonly computing: Computing;
  /** Number of rows to compute together. */
  readonly batchSize: Pick<BatchSize, 'rows'>;
  /** Number of batches to compute at once. */
  readonly atOnce: number;
  readonly reusable?: Reusable | undefined;
} & (
    | { readonly expression: string; readonly compute?: undefined }
    | { readonly expression?: undefined; readonly compute: Compute }
  );

/** Yields the rows in scope with their values, reused or computed now. */
export async function* computeScannedRows(
  request: AnswerRequest,
  signal: AbortSignal,
): AsyncGenerator<ScannedRows, void, undefined> {
  const pending: Promise<ScannedRows>[] = [];
  try {
    for await (const { answer } of asked(request, signal)) {
      // Handles a rejection now, because the consumer may still wait for an earlier batch and Node would report the
      // rejection as unhandled.
      answer.catch(() => undefined);
      pending.push(answer);
      if (pending.length > request.atOnce) yield await pending.shift()!;
    }
    while (pending.length > 0) yield await pending.shift()!;
  } finally {
    await Promise.allSettled(pending);
  }
}

/** The promise is inside an object, because async generators await promises that they yield. */
type Asked = { readonly answer: Promise<ScannedRows> };

async function* asked(request: AnswerRequest, signal: AbortSignal): AsyncGenerator<Asked, void, undefined> {
  let kept: { fragment: number; rows: ReusableRows } | undefined;
  for await (const { rows, failed } of readRows(request, signal)) {
    const { fragment } = rows;
    if (kept?.fragment !== fragment)
      kept = { fragment, rows: (await request.reusable?.of(fragment, signal)) ?? noRows };
    const reusable = kept.rows;
    const found = Array.from(rows.addresses, (address) => reusable.find(address));
    for (const { start, end } of reuseRuns(found)) {
      if (found[start] !== -1) {
        yield { answer: Promise.resolve(reused(request, sliceRead(rows, start, end), reusable, found[start]!)) };
      } else if (failed) {
        yield { answer: Promise.resolve({ ...failed, read: rows, isReused: false }) };
      } else {
        for (let from = start, to; from < end; from = to) {
          to = Math.min(from + request.batchSize.rows, end);
          yield { answer: computed(request, sliceRead(rows, from, to), signal) };
        }
      }
    }
  }
}

/**
 * Splits rows into runs: rows without a reusable value, and rows whose reusable values are consecutive too, which are
 * copied at once.
 * @param found the position of the reusable value of each row, -1 for none
 */
export const reuseRuns = (found: readonly number[]): Iterable<{ start: number; end: number }> =>
  // The difference of two positions may be any number, so rows without a value get `undefined` instead of a number.
  rowRuns(found.length, (row) => (found[row] === -1 ? undefined : found[row]! - row));

const noRows = new ReusableRows([]);

async function* readRows(request: AnswerRequest, signal: AbortSignal) {
  if (request.expression !== undefined) {
    // The engine also evaluates rows that can be reused. For these rows the stored values are used.
    yield* sqlRows({ ...request, expression: request.expression }, request.computing, signal);
    return;
  }
  for await (const rows of scanRows(request, signal)) yield { rows, failed: undefined };
}

async function computed(request: AnswerRequest, read: ReadRows, signal: AbortSignal): Promise<ScannedRows> {
  const compute = request.compute ?? computeBySql(request.computing);
  return { ...(await compute(read, signal)), read, isReused: false };
}

function reused({ inputs }: AnswerRequest, read: ReadRows, from: ReusableRows, found: number): ScannedRows {
  const { fragment, addresses, key } = read;
  const hashes = hashesOf(read.inputs, inputs);
  const rows = { fragment, addresses, key, hashes, ...from.take(found, addresses.length) };
  return { rows, errors: noRowErrors(addresses.length), read, isReused: true };
}
