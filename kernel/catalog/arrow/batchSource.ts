import type { RecordBatch, Schema } from '#arrow';
import { Query } from '#catalog/query/query.ts';
import type { BatchStream } from '#catalog/query/querySpec.ts';
import {
  adoptSchema,
  type BatchSource,
  checkColumns,
  checkSameColumns,
  type TableSource,
  toArrowTable,
} from '#catalog/table/tableData.ts';
import { adoptTable, batchAdopter } from '#shared/arrow/adoptTable.ts';
import { schemaText } from '#shared/arrow/arrowTypes.ts';
import { withFullValidity } from '#shared/arrow/nullData.ts';
import { CatalogError, isAbort, isCatalogError, messageOf } from '#shared/errors.ts';

/** A batch source whose columns are known before its first batch. */
export class BatchesWithSchema implements AsyncIterable<RecordBatch> {
  readonly schema: Schema;
  readonly #batches: AsyncIterable<RecordBatch>;

  constructor(schema: Schema, batches: AsyncIterable<RecordBatch>) {
    this.schema = schema;
    this.#batches = batches;
  }

  [Symbol.asyncIterator](): AsyncIterator<RecordBatch> {
    return this.#batches[Symbol.asyncIterator]();
  }
}

/** Batches converted to this copy of apache-arrow, and a way to close their source before reading has started. */
type SourceBatches = BatchStream & { close: () => Promise<void> };

/**
 * Returns the data for a table as batches of one schema. Rows and tables are converted at once; a batch source is read
 * while its batches arrive. The schema is known before the first row. It is `schema` if given, else the schema of the
 * query or of the first batch. Reading throws SchemaValidation if a batch has other columns than the first one, and
 * InvalidInput with the error of the source as its cause if the source throws. A reader that stops early closes the
 * source.
 * @param call for errors: the call that the data was given to
 * @throws CatalogError SchemaValidation (20), InvalidInput (13) for the same data as `toArrowTable`; SchemaValidation
 * if there is neither a batch nor a schema
 */
export async function batchesOf(call: string, source: TableSource, schema?: Schema): Promise<SourceBatches> {
  if (source instanceof Query) {
    // A query knows its columns even if it returns no row.
    const { schema: found, batches } = await source.execute();
    return opened(call, batches, schema ?? found);
  }
  if (source instanceof BatchesWithSchema) return opened(call, source, schema ?? source.schema);
  if (isBatchSource(source)) return opened(call, source, schema);
  const table = toArrowTable(call, source, schema);
  return { schema: table.schema, batches: inTurn(table.batches), close: () => Promise.resolve() };
}

/** Whether the data arrives as batches whose number is not known in advance. */
export const isBatchSource = (source: TableSource): source is BatchSource =>
  typeof source === 'object' && source !== null && Symbol.asyncIterator in source;

/** Runs a call that reads `data`, and closes a batch source if the call fails. */
export async function closeSourceAfter<T>(data: TableSource, call: () => Promise<T>): Promise<T> {
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
    // A given schema comes first, because it decides about metadata and nulls. `checkSameColumns` compares only names
    // and types.
    const schema = wanted ?? (first && checkColumns(first.schema));
    if (!schema) {
      const hint = 'Set the option schema to create an empty table.';
      throw new CatalogError('SchemaValidation', `${call} got no batch, so the columns are unknown.`, hint);
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
        const what = `Expected batches with the columns (${columns}) for ${reading.call}, got (${found}) after row ${row}.`;
        throw new CatalogError('SchemaValidation', what, 'Use the same columns in the same order in all batches.');
      }
      row += batch.numRows;
      yield adopt(batch) ?? batch;
    }
  } finally {
    // Closes the source also after a bad batch and if the reader stops, because the source may hold open files and
    // connections.
    await reading.close();
  }
}

/** Reads batches from a source and closes it at most once. */
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
    const [batch, ...more] = adopted ? withFullValidity(adopted).batches : [];
    if (batch && more.length === 0) return batch;
    throw new CatalogError(
      'InvalidInput',
      `Expected Arrow record batches for ${this.call}, got another value.`,
      'Pass the batches themselves, for instance those of a query.',
    );
  }

  async close(): Promise<void> {
    if (this.#isOver) return;
    this.#isOver = true;
    // An error while closing is dropped, because the reason for closing matters more.
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
      const what = `Can't read the batches for ${this.call}: ${messageOf(error).replace(/\.$/, '')}.`;
      throw new CatalogError('InvalidInput', what, 'No batch was written; see the cause of this error.', {
        cause: error,
      });
    }
  }
}

// Gives tables in memory the same interface as batches that arrive over time.
// oxlint-disable-next-line typescript/require-await
async function* inTurn(batches: readonly RecordBatch[]): AsyncGenerator<RecordBatch, void, undefined> {
  yield* batches;
}
