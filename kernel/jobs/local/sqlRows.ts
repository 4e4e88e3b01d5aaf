import { isCatalogError, messageOf } from '#shared/errors.ts';
import { JobError } from '#shared/jobs/jobErrors.ts';
import { failedRow, type ComputedBatch, type Computing } from './computeRows.ts';
import { firstAddress, fragmentId, sliceRead, type ReadRows } from './rows.ts';
import { scanRows, type ScanRequest } from './scanRows.ts';

/** Row addresses to search after each failure. */
const window = 4096n;

/** Rows with values, or one row for which the expression fails. */
type SqlRows = { readonly rows: ReadRows; readonly failed: ComputedBatch | undefined };

/**
 * Reads rows with the values of a SQL expression. One failing row ends the whole query, so failing rows are found by
 * bisection if the job continues without them.
 * @throws JobError FunctionFailed for the first failed row if `onError` ends the job; CatalogError
 */
export async function* sqlRows(
  request: ScanRequest & { readonly expression: string },
  computing: Computing,
  signal: AbortSignal,
): AsyncGenerator<SqlRows, void, undefined> {
  let from = request.from ?? 0n;
  for (;;) {
    try {
      for await (const rows of scanRows({ ...request, from }, signal)) {
        from = rows.addresses.at(-1)! + 1n;
        yield { rows, failed: undefined };
      }
      return;
    } catch (error) {
      if (signal.aborted || !isOfExpression(error)) throw error;
      if (computing.onError.mode === 'fail' || computing.onError.mode === 'retry') throw failure(computing, error);
      // The address of the next row is searched, because that row may be several fragments away.
      const next = await nextAddress(request, from, signal);
      if (next === undefined) throw error;
      const nextFragment = firstAddress(fragmentId(next) + 1);
      const to = next + window < nextFragment ? next + window : nextFragment;
      yield* byHalves(request, computing, next, request.to !== undefined && request.to < to ? request.to : to, signal);
      from = to;
    }
  }
}

async function* byHalves(
  request: ScanRequest & { readonly expression: string },
  computing: Computing,
  from: bigint,
  to: bigint,
  signal: AbortSignal,
): AsyncGenerator<SqlRows, void, undefined> {
  const found: ReadRows[] = [];
  try {
    for await (const rows of scanRows({ ...request, from, to }, signal)) found.push(rows);
  } catch (error) {
    if (signal.aborted || !isOfExpression(error)) throw error;
    if (to - from > 1n) {
      const middle = (from + to) / 2n;
      yield* byHalves(request, computing, from, middle, signal);
      yield* byHalves(request, computing, middle, to, signal);
      return;
    }
    // Reads the row without the expression. If this query fails too, the expression is not the cause, and the error of
    // this query is thrown.
    for await (const rows of scanRows({ ...request, expression: undefined, from, to }, signal)) {
      yield { rows, failed: failedRow(computing, rows, error) };
    }
    return;
  }
  for (const rows of found) yield { rows, failed: undefined };
}

async function nextAddress(request: ScanRequest, from: bigint, signal: AbortSignal): Promise<bigint | undefined> {
  for await (const rows of scanRows({ ...request, expression: undefined, inputs: [], from }, signal)) {
    return sliceRead(rows, 0, 1).addresses[0];
  }
  return undefined;
}

/** Whether an error may be caused by the expression. Errors of connections and missing objects are not. */
const isOfExpression = (error: unknown): boolean =>
  isCatalogError(error, 'InvalidInput') ||
  isCatalogError(error, 'Internal') ||
  isCatalogError(error, 'SchemaValidation');

const failure = ({ name }: Computing, error: unknown): JobError =>
  new JobError(
    'FunctionFailed',
    `The expression of "${name}" failed: ${messageOf(error)}`,
    'Fix the expression, or set onError to "null" or "skip". Finished rows are kept.',
    { cause: error },
  );
