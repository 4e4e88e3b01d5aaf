import { makeData, RecordBatch, Struct, Table, tableToIPC, Uint64, Uint8, type Data, type Schema } from '#arrow';

/** Encodes rows as an Arrow IPC file. Each part is a record batch: columns of one length that match the schema. */
export function encodeRows(schema: Schema, parts: readonly (readonly Data[])[]): Uint8Array {
  const type = new Struct(schema.fields);
  const batches = parts.map(
    (children) =>
      new RecordBatch(schema, makeData({ type, length: children[0]!.length, nullCount: 0, children: [...children] })),
  );
  return tableToIPC(new Table(schema, batches), 'file');
}

/** Builds a column of addresses or hashes. */
export const uint64Data = (data: BigUint64Array): Data => makeData({ type: new Uint64(), data });

/** Builds a column of states. */
export const uint8Data = (data: Uint8Array): Data => makeData({ type: new Uint8(), data });

/**
 * Reads a column of addresses or hashes. @throws Error if the file, which any user may have written, has no such
 * column
 */
export function uint64sOf(batch: RecordBatch, name: string): BigUint64Array {
  const found: unknown = batch.getChild(name)?.toArray();
  if (!(found instanceof BigUint64Array)) throw new Error(`no rows: ${name}`);
  return found;
}

/** Reads a column of states. @throws Error as `uint64sOf` */
export function uint8sOf(batch: RecordBatch, name: string): Uint8Array {
  const found: unknown = batch.getChild(name)?.toArray();
  if (!(found instanceof Uint8Array)) throw new Error(`no rows: ${name}`);
  return found;
}
