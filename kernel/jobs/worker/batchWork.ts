import { RecordBatch, Schema, Struct, Field, Utf8, makeData, type Data } from '#arrow';
import { JobError } from '#shared/jobs/jobErrors.ts';
import { columnBuilder } from './columnBuilders.ts';
import { computeBatch, type BatchFunction } from './computeBatch.ts';
import { computeRows, type RowFunction } from './computeRows.ts';
import { RowFailures } from './failures.ts';
import { rowMaker } from './rowMaker.ts';
import type { WorkerOptions } from './workerOptions.ts';

/** What a worker answers a batch with: `value` and `error`, of which a row has at most one. */
export const answerSchema = ({ output }: Pick<WorkerOptions, 'output'>): Schema =>
  new Schema([new Field('value', output.type, true), new Field('error', new Utf8(), true)]);

/**
 * Makes what computes batches by a function.
 * @param schema that of the answers
 */
export function batchWork(
  options: WorkerOptions,
  compute: RowFunction,
  schema: Schema,
): (batch: RecordBatch) => Promise<RecordBatch> {
  const { inputs, output, onError, concurrency } = options;
  const rowsOf = rowMaker(inputs);
  return async (batch) => {
    const missing = inputs.find((name) => batch.schema.fields.every((field) => field.name !== name));
    if (missing !== undefined)
      throw new JobError('RequestInvalid', `A batch has no column "${missing}", which the function takes.`, '');
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
