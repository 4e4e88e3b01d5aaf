import { type Data, type DataType, Field, makeData, RecordBatch, Schema, Struct, Utf8 } from '#arrow';
import { adoptTable } from '#shared/arrow/adoptTable.ts';
import { typeText } from '#shared/arrow/arrowTypes.ts';
import type { OnError } from '#shared/jobs/computedFunction.ts';
import { JobError } from '#shared/jobs/jobErrors.ts';
import { isRecord } from '#shared/records.ts';
import { type ColumnBuilder, columnBuilder } from './columnBuilders.ts';
import { computeRows, retryPause, type RowFunction } from './computeRows.ts';
import { failureText, notRun, RowFailures } from './rowFailures.ts';
import { createRowReader } from './rows.ts';
import type { WorkerOptions } from './workerOptions.ts';

type BatchFunction = (batch: RecordBatch) => unknown;

/**
 * Runs a function over a whole batch. The function must return one value per row, as an Arrow vector, a typed array or
 * an iterable, in which an Error stands for a failed row. If it throws, every row fails.
 * @returns the result unchanged if it is a vector of the column's type; otherwise undefined, and its values are set on
 * `column`
 */
async function computeBatch(
  compute: BatchFunction,
  onError: OnError,
  batch: RecordBatch,
  type: DataType,
  column: ColumnBuilder,
  failures: RowFailures,
): Promise<Data | undefined> {
  try {
    const given = await tried(compute, onError, batch);
    const ready = columnOf(given, type);
    if (ready !== undefined) {
      checkCount(ready.length, batch.numRows);
      return ready;
    }
    keepEach(valuesOf(given, batch.numRows), onError, column, failures);
  } catch (error) {
    const text = failureText(error);
    for (let row = 0; row < batch.numRows; row++) failures.set(row, text);
  }
  return undefined;
}

async function tried(compute: BatchFunction, onError: OnError, batch: RecordBatch): Promise<unknown> {
  const attempts = onError.mode === 'retry' ? onError.attempts : 0;
  for (let attempt = 0; ; attempt++) {
    try {
      return await compute(batch);
    } catch (error) {
      if (attempt >= attempts) throw error;
      await retryPause(attempt);
    }
  }
}

function keepEach(values: readonly unknown[], onError: OnError, column: ColumnBuilder, failures: RowFailures): void {
  const endsAtError = onError.mode === 'fail' || onError.mode === 'retry';
  for (const [row, value] of values.entries()) {
    try {
      if (value instanceof Error) throw value;
      column.set(row, value);
    } catch (error) {
      failures.set(row, failureText(error));
      if (!endsAtError) continue;
      for (let rest = row + 1; rest < values.length; rest++) failures.set(rest, notRun);
      return;
    }
  }
}

/**
 * Accepts vectors of any copy of apache-arrow, because the function's bundle may contain another copy. Returns
 * undefined if the value is not a vector, has another type or several chunks.
 */
function columnOf(given: unknown, type: DataType): Data | undefined {
  if (!isRecord(given)) return undefined;
  const data: unknown = Array.isArray(given['data']) && given['data'].length === 1 ? given['data'][0] : undefined;
  if (!isRecord(data) || !isRecord(data['type']) || typeof data['length'] !== 'number') return undefined;
  const schema = { fields: [{ name: 'value', type: data['type'], nullable: true }] };
  const struct = { ...data, type: data['type'], children: [data], nullCount: 0, offset: 0 };
  const adopted = adoptTable({ schema, batches: [{ schema, data: struct }] })?.batches[0]?.data.children[0];
  return adopted && typeText(adopted.type) === typeText(type) ? adopted : undefined;
}

function valuesOf(given: unknown, rows: number): readonly unknown[] {
  if (typeof given !== 'object' || given === null || !(Symbol.iterator in given))
    throw new TypeError(
      `The function returned ${describe(given)} for a batch, not an array or a vector of ${rows} values.`,
    );
  const values = Array.from(given as Iterable<unknown>);
  checkCount(values.length, rows);
  return values;
}

function checkCount(has: number, wants: number): void {
  if (has === wants) return;
  throw new RangeError(`The function returned ${has} values for a batch of ${wants} rows; it must return one per row.`);
}

const describe = (value: unknown): string => (value === null || value === undefined ? 'nothing' : `a ${typeof value}`);

/** Result of a batch: a row has a `value`, an `error` or neither. */
export const answerSchema = ({ output }: Pick<WorkerOptions, 'output'>): Schema =>
  new Schema([new Field('value', output.type, true), new Field('error', new Utf8(), true)]);

export function batchWork(
  options: WorkerOptions,
  compute: RowFunction,
  schema: Schema,
): (batch: RecordBatch) => Promise<RecordBatch> {
  const { inputs, output, onError, concurrency } = options;
  const rowsOf = createRowReader(inputs);
  return async (batch) => {
    const missing = inputs.find((name) => batch.schema.fields.every((field) => field.name !== name));
    if (missing !== undefined)
      throw new JobError('RequestInvalid', `A batch has no column "${missing}", which the function reads.`, '');
    const rows = batch.numRows;
    const column = columnBuilder(output.name, output.type, rows);
    const failures = new RowFailures(rows);
    let ready: Data | undefined;
    if (rows === 0) ready = undefined;
    else if (options.takes === 'row') {
      const waiting = computeRows({ compute, onError, concurrency }, rowsOf(batch), rows, column, failures);
      if (waiting) await waiting;
    } else {
      const call = compute as unknown as BatchFunction;
      ready = await computeBatch(call, onError, batch.select([...inputs]), output.type, column, failures);
    }
    return answer(schema, ready ?? column.finish(), failures, rows);
  };
}

function answer(schema: Schema, value: Data, failures: RowFailures, rows: number): RecordBatch {
  const { texts } = failures;
  const error = texts ? errorColumn(texts, rows) : noErrors(rows);
  const children = [value, error];
  return new RecordBatch(schema, makeData({ type: new Struct(schema.fields), length: rows, nullCount: 0, children }));
}

function errorColumn(texts: readonly (string | undefined)[], rows: number): Data {
  const column = columnBuilder('error', new Utf8(), rows);
  for (const [row, text] of texts.entries()) column.set(row, text);
  return column.finish();
}

const noErrors = (rows: number): Data =>
  makeData({
    type: new Utf8(),
    length: rows,
    nullCount: rows,
    nullBitmap: new Uint8Array((rows + 7) >> 3),
    valueOffsets: new Int32Array(rows + 1),
    data: new Uint8Array(0),
  });
