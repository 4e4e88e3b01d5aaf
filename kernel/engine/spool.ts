import { createReadStream } from 'node:fs';
import { mkdtemp, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { RecordBatchReader, type RecordBatch, type Schema } from '#arrow';
import { encodeBatches } from './ipcStream.ts';

/** Batches that wait on disk, in a folder of the machine's own that only its user can look into. */
export class Spool {
  readonly #folder: string;
  readonly #file: string;

  private constructor(folder: string) {
    this.#folder = folder;
    this.#file = join(folder, 'rows.arrows');
  }

  /** Writes batches down until there are no more. Nothing is left of those that end with a failure. */
  static async of(schema: Schema, batches: AsyncIterable<RecordBatch>): Promise<Spool> {
    const spool = new Spool(await mkdtemp(join(tmpdir(), 'lance-catalog-')));
    try {
      const file = await open(spool.#file, 'wx', 0o600);
      try {
        for await (const chunk of encodeBatches('stream', schema, batches)) {
          await file.write(chunk);
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

  async *batches(): AsyncGenerator<RecordBatch> {
    const reader = await RecordBatchReader.from(createReadStream(this.#file));
    yield* reader;
  }

  dispose(): Promise<void> {
    return rm(this.#folder, { recursive: true, force: true });
  }
}
