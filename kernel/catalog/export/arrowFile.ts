import { type RecordBatch, RecordBatchFileWriter } from '#arrow';
import { encodeWith } from '#catalog/arrow/ipcWriter.ts';
import { changeTypes, plainValues } from './changeTypes.ts';
import type { ExportedRows } from './exportFormats.ts';

/**
 * Encodes rows as a file of Arrow IPC, one chunk per batch. Dictionaries are written as their values, because a file has
 * only one dictionary per column, and batches may have different ones.
 */
export async function* encodeFile({
  schema: given,
  batches,
}: ExportedRows): AsyncGenerator<Uint8Array, void, undefined> {
  const { schema, convert } = changeTypes(given, plainValues);
  yield* encodeWith(new RecordBatchFileWriter(), schema, converted());

  async function* converted(): AsyncGenerator<RecordBatch, void, undefined> {
    for await (const batch of batches) if (batch.numRows > 0) yield convert(batch);
  }
}
