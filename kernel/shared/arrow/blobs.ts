import { DataType, Field, LargeBinary, Schema, Struct, Uint64 } from '#arrow';

// A blob column keeps large values outside of the rows. A query returns descriptors of the blobs, not their bytes.

/** The encoding of blobs that can be read by ranges. */
export const blobV2 = 'lance.blob.v2';
/** Maximum number of bytes of a blob in one response. */
export const maxBlobRange: number = 4 * 2 ** 20;
/** The encoding of blobs before `lance.blob.v2`. */
export const legacyBlob = 'lance-encoding:blob';

/**
 * Returns the name of a blob column's encoding, by a field of a table or of a query result; `undefined` for another
 * column.
 */
export function blobEncoding({ metadata, type }: Field): string | undefined {
  const extension = metadata.get('ARROW:extension:name');
  if (extension?.startsWith('lance.blob') === true) return extension;
  if (metadata.get(legacyBlob) !== 'true') return undefined;
  // The field of a query result has no extension name.
  return hasFields(type, ['kind', 'size', 'blob_id']) ? blobV2 : legacyBlob;
}

/** Returns the names that lead to the first field of blobs in a field, which may be the field itself. */
export function blobNames(field: Field): string[] | undefined {
  if (blobEncoding(field) !== undefined) return [field.name];
  for (const child of (field.type.children ?? []) as Field[]) {
    const names = blobNames(child);
    if (names) return [field.name, ...names];
  }
  return undefined;
}

/** Whether a field of a query result has descriptors of blobs, with their size. */
export const hasBlobDescriptors = (field: Field): boolean =>
  blobEncoding(field) !== undefined && hasFields(field.type, ['position', 'size']);

const headKey = 'lance-catalog:blob-head';

/** Returns the schema of a column with the size and the first bytes of blobs. A null blob is null. */
export const blobHeadSchema = (column: string): Schema =>
  new Schema([
    new Field(
      column,
      new Struct([new Field('size', new Uint64(), false), new Field('head', new LargeBinary(), false)]),
      true,
      new Map([[headKey, 'true']]),
    ),
  ]);

export const hasBlobHeads = ({ metadata, type }: Field): boolean =>
  metadata.get(headKey) === 'true' &&
  DataType.isStruct(type) &&
  DataType.isInt(type.children[0]?.type) &&
  DataType.isLargeBinary(type.children[1]?.type);

const hasFields = (type: DataType, names: readonly string[]): boolean =>
  DataType.isStruct(type) && names.every((name) => type.children.some((child: Field) => child.name === name));
