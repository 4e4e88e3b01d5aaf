import type { RecordBatch } from '#arrow';
import { isBatchSource } from '#catalog/arrow/batchSource.ts';
import type { TableSource } from './tableData.ts';

/** How far a write is, with the names of LanceDB. */
export type WriteProgress = {
  outputRows: number;
  /** Bytes of the rows in memory. */
  outputBytes: number;
  /** All rows, once they are known. */
  totalRows?: number;
  elapsedSeconds: number;
  activeTasks: number;
  totalTasks: number;
  /** True for the last call, after the rows are in the table. */
  done: boolean;
};

/**
 * Runs a write and reports each batch that it has taken, and its end. Rows that are in memory are one report.
 * @param progress an error that it throws ends the write
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
  async function* counted(batches: AsyncIterable<RecordBatch>): AsyncGenerator<RecordBatch, void, undefined> {
    for await (const batch of batches) {
      yield batch;
      outputRows += batch.numRows;
      outputBytes += batch.data.byteLength;
      report(false);
    }
  }
  const result = await write(isBatchSource(data) ? counted(data) : data);
  outputRows = result.numInsertedRows ?? outputRows;
  report(true);
  return result;
}
