import { randomBytes } from 'node:crypto';
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import {
  Field,
  makeData,
  RecordBatch,
  Schema,
  Struct,
  Table,
  tableFromIPC,
  tableToIPC,
  Uint64,
  Uint8,
  type Data,
} from '#arrow';
import { typeText } from '#shared/arrowTypes.ts';
import { fragmentOf, type ComputedRows } from './rows.ts';
import { storageError } from './storageError.ts';

// A merge that others raced is looked at after it was made. Who is killed in between leaves values of inputs that are gone,
// and nothing in the table says so. So what is merged is kept beside the checkpoints until that look is over.

const baseKey = 'lance-catalog.merge-base';
// The Python driver, which goes on with jobs that were begun here, knows of no key but by this.
const keyKey = 'lance-catalog.merge-key';

/** A merge that may be in the table or not, and if it is, was perhaps not looked at. */
export type PendingMerge = {
  /** The version that the table had right before. */
  readonly base: number;
  readonly rows: readonly ComputedRows[];
};

/** The file that keeps the merge of one job at one column. */
export class PendingMerges {
  readonly #path: string;
  readonly #key: string;
  readonly #schema: Schema;

  constructor(path: string, key: Field, column: Field) {
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

  /** Keeps rows that are about to be merged, in place of those before. @throws JobError StorageFull, StorageFailed */
  async keep({ base, rows }: PendingMerge): Promise<void> {
    const metadata = new Map([
      [baseKey, String(base)],
      [keyKey, this.#key],
    ]);
    const schema = new Schema(this.#schema.fields, metadata);
    const batches = rows.map(({ addresses, hashes, states, key, value }) => {
      const numbers = [addresses, hashes].map((data) => makeData({ type: new Uint64(), data }));
      const children: Data[] = [...numbers, makeData({ type: new Uint8(), data: states }), key!, value];
      const type = new Struct(schema.fields);
      return new RecordBatch(schema, makeData({ type, length: addresses.length, nullCount: 0, children }));
    });
    const draft = `${this.#path}.${randomBytes(4).toString('hex')}.tmp`;
    try {
      await mkdir(dirname(this.#path), { recursive: true });
      await writeFile(draft, tableToIPC(new Table(schema, batches), 'file'), { mode: 0o600 });
      await rename(draft, this.#path);
    } catch (error) {
      await rm(draft, { force: true }).catch(() => undefined);
      throw storageError(error, this.#path);
    }
  }

  /** What was kept; `undefined` where nothing is, or it can't be read or is of another key or type. */
  async read(): Promise<PendingMerge | undefined> {
    try {
      const table = tableFromIPC(await readFile(this.#path));
      const base = Number(table.schema.metadata.get(baseKey));
      if (!Number.isSafeInteger(base) || typesOf(table.schema) !== typesOf(this.#schema)) return undefined;
      return { base, rows: table.batches.filter(({ numRows }) => numRows > 0).map(rowsOf) };
    } catch {
      return undefined;
    }
  }

  /** Forgets it: it was looked at, or it never was made. */
  async settle(): Promise<void> {
    await rm(this.#path, { force: true }).catch(() => undefined);
  }
}

const typesOf = ({ fields }: Schema): string => fields.map(({ name, type }) => `${name} ${typeText(type)}`).join();

function rowsOf(batch: RecordBatch): ComputedRows {
  const [addresses, hashes, states] = ['_rowaddr', 'hash', 'state'].map((name): unknown =>
    batch.getChild(name)?.toArray(),
  );
  const [key, value] = ['key', 'value'].map((name) => batch.getChild(name)?.data[0]);
  if (!(addresses instanceof BigUint64Array && hashes instanceof BigUint64Array && states instanceof Uint8Array))
    throw new Error('no rows');
  return { fragment: fragmentOf(addresses[0]!), addresses, hashes, states, key, value: value! };
}
