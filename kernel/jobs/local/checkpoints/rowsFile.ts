import { makeData, RecordBatch, Struct, Table, tableToIPC, Uint64, Uint8, type Data, type Schema } from '#arrow';

/** Encodes parts as record batches of an Arrow IPC file. */
export function encodeRows(schema: Schema, parts: readonly (readonly Data[])[]): Uint8Array {
  const type = new Struct(schema.fields);
  const batches = parts.map(
    (children) =>
      new RecordBatch(schema, makeData({ type, length: children[0]!.length, nullCount: 0, children: [...children] })),
  );
  return tableToIPC(new Table(schema, batches), 'file');
}

export const uint64Data = (data: BigUint64Array): Data => makeData({ type: new Uint64(), data });

export const uint8Data = (data: Uint8Array): Data => makeData({ type: new Uint8(), data });

/** @throws Error if the file has no such column of 64-bit numbers; any user may have written the file */
export function uint64sOf(batch: RecordBatch, name: string): BigUint64Array {
  const found: unknown = batch.getChild(name)?.toArray();
  if (!(found instanceof BigUint64Array)) throw new Error(`no rows: ${name}`);
  return found;
}

/** @throws Error as `uint64sOf` */
export function uint8sOf(batch: RecordBatch, name: string): Uint8Array {
  const found: unknown = batch.getChild(name)?.toArray();
  if (!(found instanceof Uint8Array)) throw new Error(`no rows: ${name}`);
  return found;
}
