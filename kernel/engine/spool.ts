import { createReadStream } from 'node:fs';
import { mkdtemp, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { RecordBatch, Schema } from '#arrow';
import { readIpc } from '#client/ipcReader.ts';
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
          // Not `write`, which may leave the rest of a chunk out.
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

  /** The batches, those without rows left out. @throws IpcError where the file is not whole any more */
  async *batches(): AsyncGenerator<RecordBatch> {
    const { batches } = await readIpc(createReadStream(this.#file));
    yield* batches;
  }

  dispose(): Promise<void> {
    return rm(this.#folder, { recursive: true, force: true });
  }
}
