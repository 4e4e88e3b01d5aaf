import type { RecordBatch, Schema } from '#arrow';
import { adoptTable } from '#shared/adoptTable.ts';
import { columnsOf } from '#shared/arrowTypes.ts';
import { CatalogError, isAbort, isCatalogError, messageOf } from '#shared/errors.ts';
import { isRecord } from '#shared/records.ts';
import { adoptSchema, toArrowTable } from './tableData.ts';
import type { BatchSource, TableSource } from './tableSource.ts';

/** Record batches of ours with the schema that all of them have; `close` lets go of a source that is not read to its end. */
export type SourceBatches = {
  schema: Schema;
  batches: AsyncIterable<RecordBatch>;
  close(): Promise<void>;
};

/** Whether rows come one after the other, and not as a whole that is here already. */
export const isBatchSource = (data: TableSource): data is BatchSource =>
  isRecord(data) && !('batches' in data) && typeof data[Symbol.asyncIterator as unknown as string] === 'function';

/**
 * Whatever a table can be made of as batches of our copy of apache-arrow. Reads the first batch of a source that comes
 * piece by piece, since nothing else says its columns.
 * @throws CatalogError InvalidInput (13) for no batch and no schema, or with the source's own failure as its cause;
 *   SchemaValidation (20) for a batch unlike the first one
 */
export async function sourceBatches(call: string, data: TableSource, schema?: Schema): Promise<SourceBatches> {
  if (!isBatchSource(data)) {
    const table = toArrowTable(call, data, schema);
    return { schema: table.schema, batches: inTurn(table.batches), close: () => Promise.resolve() };
  }
  const source = new Source(call, data[Symbol.asyncIterator](), schema && adoptSchema(schema));
  return { schema: await source.open(), batches: source.batches(), close: () => source.close() };
}

// A table in memory takes the same way as one that arrives.
// oxlint-disable-next-line typescript/require-await
async function* inTurn(batches: readonly RecordBatch[]): AsyncGenerator<RecordBatch> {
  yield* batches;
}

class Source {
  readonly #call: string;
  readonly #iterator: AsyncIterator<unknown>;
  #schema: Schema | undefined;
  #first: RecordBatch[] = [];
  #isDone = false;

  constructor(call: string, iterator: AsyncIterator<unknown>, schema: Schema | undefined) {
    this.#call = call;
    this.#iterator = iterator;
    this.#schema = schema;
  }

  async open(): Promise<Schema> {
    if (this.#schema) return this.#schema;
    try {
      this.#first = (await this.#next()) ?? [];
    } catch (error) {
      await this.close();
      throw error;
    }
    if (this.#schema) return this.#schema;
    throw new CatalogError(
      'InvalidInput',
      `${this.#call} was given no batch at all, which says nothing about the columns.`,
      'Give the option schema too.',
    );
  }

  async *batches(): AsyncGenerator<RecordBatch> {
    try {
      for (let next: RecordBatch[] | undefined = this.#first; next; next = await this.#next()) yield* next;
    } finally {
      await this.close();
    }
  }

  async close(): Promise<void> {
    if (this.#isDone) return;
    this.#isDone = true;
    // What it was stopped for matters more than how it stops.
    await this.#iterator.return?.().catch(() => undefined);
  }

  async #next(): Promise<RecordBatch[] | undefined> {
    const next = await this.#pull();
    if (next.done) {
      this.#isDone = true;
      return undefined;
    }
    const table = adoptTable(next.value);
    if (!table) {
      throw new CatalogError(
        'InvalidInput',
        `${this.#call} was given something that is no record batch.`,
        'Give an async iterable of Arrow record batches.',
      );
    }
    // The names of its columns are checked with the first one.
    this.#schema ??= adoptSchema(table.schema);
    checkAlike(this.#call, table.schema, this.#schema);
    return table.batches;
  }

  async #pull(): Promise<IteratorResult<unknown>> {
    try {
      return await this.#iterator.next();
    } catch (cause) {
      this.#isDone = true;
      if (isCatalogError(cause) || isAbort(cause)) throw cause;
      throw new CatalogError(
        'InvalidInput',
        `The batches given to ${this.#call} ended with a failure: ${messageOf(cause)}.`,
        'Nothing was written.',
        { cause },
      );
    }
  }
}

function checkAlike(call: string, has: Schema, wants: Schema): void {
  if (has === wants || words(has) === words(wants)) return;
  throw new CatalogError(
    'SchemaValidation',
    `${call} was given a batch with the columns (${words(has)}) after (${words(wants)}).`,
    'Give batches of one schema.',
  );
}

const words = (schema: Schema): string =>
  columnsOf(schema)
    .map(({ name, type }) => `${name}: ${type}`)
    .join(', ');
