import { Field, Schema, Uint64, Uint8, type RecordBatch } from '#arrow';
import { typeText } from '#shared/arrow/arrowTypes.ts';
import { readArrow } from '#shared/arrow/readArrow.ts';
import { fragmentId, type ComputedRows } from '#jobs/local/rows.ts';
import { encodeRows, uint64Data, uint64sOf, uint8Data, uint8sOf } from './rowsFile.ts';
import type { CheckpointStore } from './store.ts';

// A merge that overlaps with other writers is corrected afterwards. If the process is killed before the correction,
// values that were computed from outdated inputs remain, and the table does not show which values those are. So a merge
// is stored beside the checkpoints until it has been checked.

const baseKey = 'lance-catalog.merge-base';
// The Python driver may resume the job, and it learns the key only from this entry.
const keyKey = 'lance-catalog.merge-key';

export type PendingMerge = {
  /** Version of the table before the merge. */
  readonly base: number;
  readonly rows: readonly ComputedRows[];
};

/** Stores the merge of one job on one column. */
export class PendingMerges {
  readonly #store: CheckpointStore;
  readonly #path: string;
  readonly #key: string;
  readonly #schema: Schema;

  constructor(store: CheckpointStore, path: string, key: Field, column: Field) {
    this.#store = store;
    this.#path = path;
    this.#key = key.name;
    this.#schema = new Schema([
      new Field('_rowaddr', new Uint64(), true),
      new Field('hash', new Uint64(), true),
      new Field('state', new Uint8(), true),
      new Field('key', key.type, true),
      new Field('value', column.type, true),
    ]);
  }

  /** Stores rows before they are merged. @throws JobError StorageFull, StorageFailed */
  async keep({ base, rows }: PendingMerge): Promise<void> {
    const metadata = new Map([
      [baseKey, String(base)],
      [keyKey, this.#key],
    ]);
    const schema = new Schema(this.#schema.fields, metadata);
    const parts = rows.map(({ addresses, hashes, states, key, value }) => [
      uint64Data(addresses),
      uint64Data(hashes),
      uint8Data(states),
      key!,
      value,
    ]);
    await this.#store.write(this.#path, encodeRows(schema, parts));
  }

  /**
   * Returns `undefined` if there is no file, or if the file is truncated or has another key or type.
   * @throws JobError StorageFailed
   */
  async read(signal: AbortSignal): Promise<PendingMerge | undefined> {
    const bytes = await this.#store.read(this.#path, signal);
    try {
      if (!bytes) return undefined;
      const table = readArrow(bytes);
      const base = Number(table.schema.metadata.get(baseKey));
      if (!Number.isSafeInteger(base) || typesOf(table.schema) !== typesOf(this.#schema)) return undefined;
      return { base, rows: table.batches.filter(({ numRows }) => numRows > 0).map(rowsOf) };
    } catch {
      return undefined;
    }
  }

  /** Removes the file after the merge was checked, or if it never happened. */
  async settle(): Promise<void> {
    await this.#store.remove(this.#path);
  }
}

const typesOf = ({ fields }: Schema): string => fields.map(({ name, type }) => `${name} ${typeText(type)}`).join();

function rowsOf(batch: RecordBatch): ComputedRows {
  const [addresses, hashes] = [uint64sOf(batch, '_rowaddr'), uint64sOf(batch, 'hash')];
  const [key, value] = ['key', 'value'].map((name) => batch.getChild(name)?.data[0]);
  return {
    fragment: fragmentId(addresses[0]!),
    addresses,
    hashes,
    states: uint8sOf(batch, 'state'),
    key,
    value: value!,
  };
}
