import { createReadStream } from 'node:fs';
import { open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { RecordBatch, Schema, Table as ArrowTable } from '#arrow';
import { batchesOf, isBatchSource } from '#catalog/arrow/batchSource.ts';
import { readIpc } from '#catalog/arrow/ipcReader.ts';
import { type TableSource, toArrowTable } from '#catalog/table/tableData.ts';
import { cancellable } from '#processes/calls.ts';
import { createTempFolder } from '#processes/files.ts';
import { CatalogError } from '#shared/errors.ts';
import { bytesOf, chunkBytes, chunksOf, tableOf } from './chunks.ts';
import { encodeBatches } from './ipcStream.ts';

/** Record batches on disk, in a temporary folder that only the current user can read. */
export class Spool {
  readonly #folder: string;
  readonly #file: string;

  private constructor(folder: string) {
    this.#folder = folder;
    this.#file = join(folder, 'rows.arrows');
  }

  /** Writes all batches to disk. If reading or writing a batch fails, the folder is removed. */
  static async of(schema: Schema, batches: AsyncIterable<RecordBatch>): Promise<Spool> {
    const spool = new Spool(await createTempFolder('rows'));
    try {
      const file = await open(spool.#file, 'wx', 0o600);
      try {
        for await (const chunk of encodeBatches('stream', schema, batches)) {
          // `appendFile` is used, because `write` may write only a part of a chunk.
          await file.appendFile(chunk);
        }
      } finally {
        await file.close();
      }
      return spool;
    } catch (error) {
      await spool.dispose();
      throw error;
    }
  }

  /** Reads the batches that have rows. @throws IpcError if the file is no longer complete */
  async *batches(): AsyncGenerator<RecordBatch> {
    const { batches } = await readIpc(createReadStream(this.#file));
    yield* batches;
  }

  dispose(): Promise<void> {
    return rm(this.#folder, { recursive: true, force: true });
  }
}

/**
 * Rows that have all arrived and can be read repeatedly: one table in memory, or parts on disk if the rows are too
 * large.
 */
export type BufferedRows = {
  schema: Schema;
  table: ArrowTable | undefined;
  tables(): AsyncIterable<ArrowTable>;
  dispose(): Promise<void>;
};

/**
 * A stream of up to `version` bytes is kept in memory and becomes one version, which the engine creates from one
 * buffer. A longer stream is first spooled to disk, so that a failing stream adds nothing. Then each part of about
 * `part` bytes becomes a version, and concurrent readers can see each of these versions.
 */
const sizes = { version: 256 * 2 ** 20, part: chunkBytes } as const;

/**
 * Yields batches until the source ends or `signal` is aborted. An abort also ends the wait for the next batch, because
 * a source may wait forever.
 */
export async function* withAbort(
  batches: AsyncIterable<RecordBatch>,
  signal: AbortSignal | undefined,
): AsyncGenerator<RecordBatch> {
  const iterator = batches[Symbol.asyncIterator]();
  let isOver = false;
  try {
    for (;;) {
      signal?.throwIfAborted();
      const next = await cancellable(iterator.next(), signal);
      isOver = next.done === true;
      if (next.done) return;
      yield next.value;
    }
  } finally {
    // `return()` is not awaited, because its promise resolves only after the source has yielded the batch that it is
    // waiting for.
    if (!isOver) void iterator.return?.().catch(() => undefined);
  }
}

/**
 * Waits for all rows.
 * @throws the errors of `batchesOf`; after an error nothing is left on disk
 */
export async function bufferRows(
  call: string,
  data: TableSource,
  schema: Schema | undefined,
  signal: AbortSignal | undefined,
  limits: { version: number; part: number } = sizes,
): Promise<BufferedRows> {
  if (!isBatchSource(data)) return inMemory(toArrowTable(call, data, schema));
  const stream = await cancellable(batchesOf(call, data, schema), signal);
  const { kept, rest } = await keep(withAbort(stream.batches, signal), limits.version);
  if (!rest) return inMemory(tableOf(stream.schema, kept));
  const spool = await Spool.of(stream.schema, both(kept, rest));
  return {
    schema: stream.schema,
    table: undefined,
    tables: () => chunksOf(stream.schema, spool.batches(), limits.part),
    dispose: () => spool.dispose(),
  };
}

const inMemory = (table: ArrowTable): BufferedRows => ({
  schema: table.schema,
  table,
  async *tables() {
    yield table;
  },
  dispose: () => Promise.resolve(),
});

/**
 * Limit in bytes for input that the engine accepts only as a whole. A limit is needed because the rows are in memory,
 * and the engine copies them.
 */
const maxWhole = 2 ** 30;

/**
 * Waits for all rows and keeps them in memory.
 * @throws CatalogError InvalidInput (13) if a stream has more than 1 GiB
 */
export async function readAllRows(
  call: string,
  data: TableSource,
  schema: Schema | undefined,
  signal: AbortSignal | undefined,
  limit: number = maxWhole,
): Promise<ArrowTable> {
  if (!isBatchSource(data)) return toArrowTable(call, data, schema);
  const stream = await cancellable(batchesOf(call, data, schema), signal);
  const { kept, rest } = await keep(withAbort(stream.batches, signal), limit);
  if (!rest) return tableOf(stream.schema, kept);
  await rest.return?.();
  const what = `${call} got more than ${limit} bytes of rows, which it must keep in memory.`;
  throw new CatalogError('InvalidInput', what, 'Split the rows, and make one call for each part.');
}

/** Reads batches until they have at least `limit` bytes; `rest` then yields the remaining batches. */
async function keep(
  batches: AsyncIterable<RecordBatch>,
  limit: number,
): Promise<{ kept: RecordBatch[]; rest?: AsyncIterator<RecordBatch> }> {
  const kept: RecordBatch[] = [];
  const iterator = batches[Symbol.asyncIterator]();
  for (let size = 0; size < limit;) {
    const next = await iterator.next();
    if (next.done) return { kept };
    kept.push(next.value);
    size += bytesOf(next.value);
  }
  return { kept, rest: iterator };
}

async function* both(kept: RecordBatch[], rest: AsyncIterator<RecordBatch>): AsyncGenerator<RecordBatch> {
  try {
    // Batches are released one by one as they are written to disk.
    for (let batch = kept.shift(); batch; batch = kept.shift()) yield batch;
    for (let next = await rest.next(); !next.done; next = await rest.next()) yield next.value;
  } finally {
    await rest.return?.();
  }
}
