import type { RecordBatch, Schema } from '#arrow';
import { Query } from '#catalog/query.ts';
import type { BatchStream } from '#catalog/querySpec.ts';
import { adoptSchema, checkColumnNames, checkSameColumns, toArrowTable } from '#catalog/tableData.ts';
import type { BatchSource, TableSource } from '#catalog/tableData.ts';
import { adoptTable, batchAdopter } from '#shared/arrow/adoptTable.ts';
import { schemaText } from '#shared/arrow/arrowTypes.ts';
import { withWholeNulls } from '#shared/arrow/nullData.ts';
import { CatalogError, isAbort, isCatalogError, messageOf } from '#shared/errors.ts';

/** Batches of ours, and a way to let go of their source when nobody has begun to read them. */
type SourceBatches = BatchStream & { close: () => Promise<void> };

/**
 * What tables are made of, as batches of one schema of ours: rows and tables at once, a source of batches as it comes.
 * The schema is known before the first row: it is the given one, else that of the first batch, or of a query. A batch
 * with other columns than the first one ends the batches with SchemaValidation; a source that throws ends them with
 * InvalidInput and its error as the cause. Who stops reading ends the source.
 * @param call for errors: which call the data was given to
 * @throws CatalogError SchemaValidation (20), InvalidInput (13) as `toArrowTable`; SchemaValidation for no batch and no schema
 */
export async function batchesOf(call: string, source: TableSource, schema?: Schema): Promise<SourceBatches> {
  if (source instanceof Query) {
    // A query knows its columns even where it finds no row.
    const { schema: found, batches } = await source.execute();
    return opened(call, batches, schema ?? found);
  }
  if (isBatchSource(source)) return opened(call, source, schema);
  const table = toArrowTable(call, source, schema);
  return { schema: table.schema, batches: inTurn(table.batches), close: () => Promise.resolve() };
}

/** Whether the data comes as batches of which nobody knows how many there will be. */
export const isBatchSource = (source: TableSource): source is BatchSource =>
  typeof source === 'object' && source !== null && Symbol.asyncIterator in source;

/** Runs a call that is given rows; a source of which it has not read all is told that nobody will. */
export async function lettingGo<T>(data: TableSource, call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    if (isBatchSource(data))
      void data[Symbol.asyncIterator]()
        .return?.()
        .catch(() => undefined);
    throw error;
  }
}

async function opened(call: string, source: BatchSource, given: Schema | undefined): Promise<SourceBatches> {
  const wanted = given && adoptSchema(given);
  const reading = new Reading(call, source[Symbol.asyncIterator]());
  try {
    const first = await reading.next();
    // The given one has what the types do not say: metadata, and which columns may be null.
    const schema = wanted ?? (first && checkColumnNames(first.schema));
    if (!schema) {
      const hint = 'Give the option schema, which makes an empty table.';
      throw new CatalogError('SchemaValidation', `${call} was given no batch, so the columns are not known.`, hint);
    }
    if (first) checkSameColumns(call, first.schema, schema);
    return { schema, batches: following(reading, first, schema), close: () => reading.close() };
  } catch (error) {
    await reading.close();
    throw error;
  }
}

async function* following(
  reading: Reading,
  first: RecordBatch | undefined,
  schema: Schema,
): AsyncGenerator<RecordBatch, void, undefined> {
  const adopt = batchAdopter(schema);
  const columns = schemaText(schema);
  try {
    for (let batch = first, row = 0; batch; batch = await reading.next()) {
      const found = schemaText(batch.schema);
      if (found !== columns) {
        const what = `${reading.call} was given a batch with the columns (${found}) after row ${row}, before it (${columns}).`;
        throw new CatalogError('SchemaValidation', what, 'Give all batches the same columns, in the same order.');
      }
      row += batch.numRows;
      yield adopt(batch) ?? batch;
    }
  } finally {
    // Also when a bad batch or the receiver ends it: files and connections behind the source are let go.
    await reading.close();
  }
}

/** Takes batches off a source, and ends it once. */
class Reading {
  readonly call: string;
  readonly #iterator: AsyncIterator<unknown>;
  #isOver = false;

  constructor(call: string, iterator: AsyncIterator<unknown>) {
    this.call = call;
    this.#iterator = iterator;
  }

  async next(): Promise<RecordBatch | undefined> {
    const { done, value } = await this.#pull();
    if (done) return undefined;
    const adopted = adoptTable(value);
    const [batch, ...more] = adopted ? withWholeNulls(adopted).batches : [];
    if (batch && more.length === 0) return batch;
    throw new CatalogError(
      'InvalidInput',
      `${this.call} was given something that is no Arrow record batch.`,
      'Give batches as they come, for instance those of a query.',
    );
  }

  async close(): Promise<void> {
    if (this.#isOver) return;
    this.#isOver = true;
    // What it was ended for matters more than how it ends.
    await this.#iterator.return?.().catch(() => undefined);
  }

  async #pull(): Promise<IteratorResult<unknown>> {
    try {
      const result = await this.#iterator.next();
      if (result.done) this.#isOver = true;
      return result;
    } catch (error) {
      this.#isOver = true;
      if (isCatalogError(error) || isAbort(error)) throw error;
      const what = `The batches given to ${this.call} ended with an error: ${messageOf(error).replace(/\.$/, '')}.`;
      throw new CatalogError('InvalidInput', what, 'Nothing of them is kept; see its cause.', { cause: error });
    }
  }
}

// A table in memory takes the same way as one that arrives.
// oxlint-disable-next-line typescript/require-await
async function* inTurn(batches: readonly RecordBatch[]): AsyncGenerator<RecordBatch, void, undefined> {
  yield* batches;
}
