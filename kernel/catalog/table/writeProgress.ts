import type { RecordBatch } from '#arrow';
import { BatchesWithSchema, isBatchSource } from '#catalog/arrow/batchSource.ts';
import { Query } from '#catalog/query/query.ts';
import type { BatchSource, TableSource } from './tableData.ts';

/** How far a write is, with the names of LanceDB. */
export type WriteProgress = {
  outputRows: number;
  /** Bytes of the rows in memory. */
  outputBytes: number;
  /** Number of all rows. Set only if `done` is true, because a stream has an unknown number of rows. */
  totalRows?: number;
  elapsedSeconds: number;
  activeTasks: number;
  totalTasks: number;
  /** True for the last call, after the rows are in the table. */
  done: boolean;
};

/**
 * Runs a write. Reports progress after each batch that the write has taken from a stream, and at the end. For data in
 * memory, reports only the end.
 * @param progress receives the reports; an error that it throws ends the write
 */
export async function reportProgress<T extends { numInsertedRows?: number }>(
  data: TableSource,
  progress: ((progress: WriteProgress) => void) | undefined,
  write: (data: TableSource) => Promise<T>,
): Promise<T> {
  if (!progress) return write(data);
  const start = performance.now();
  let [outputRows, outputBytes] = [0, 0];
  const report = (done: boolean): void => {
    const elapsedSeconds = (performance.now() - start) / 1000;
    const total = done ? { totalRows: outputRows } : {};
    progress({ outputRows, outputBytes, ...total, elapsedSeconds, activeTasks: done ? 0 : 1, totalTasks: 1, done });
  };
  const count = (batch: RecordBatch): void => {
    outputRows += batch.numRows;
    outputBytes += batch.data.byteLength;
    report(false);
  };
  const result = await write(isBatchSource(data) ? await counted(data, count) : data);
  outputRows = result.numInsertedRows ?? outputRows;
  report(true);
  return result;
}

/**
 * Returns the batches of a source. Counts each batch when the write requests the next one, because only then has the
 * write taken it. A query keeps its columns, which are known even if it has no row.
 */
async function counted(source: BatchSource, count: (batch: RecordBatch) => void): Promise<BatchSource> {
  if (!(source instanceof Query)) return countBatches(source, count);
  const { schema, batches } = await source.execute();
  return new BatchesWithSchema(schema, countBatches(batches, count));
}

function countBatches(batches: BatchSource, count: (batch: RecordBatch) => void): BatchSource {
  const iterator = batches[Symbol.asyncIterator]();
  let taken: RecordBatch | undefined;
  // A generator would not close a source from which nothing was read.
  const counting: AsyncIterator<RecordBatch> = {
    async next() {
      if (taken) count(taken);
      const result = await iterator.next();
      taken = result.done ? undefined : result.value;
      return result;
    },
    return: async () => (await iterator.return?.()) ?? { done: true, value: undefined },
  };
  return { [Symbol.asyncIterator]: () => counting };
}
