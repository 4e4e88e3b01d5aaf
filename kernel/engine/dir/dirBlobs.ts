import type { BlobFile, Table as NativeTable } from '@lancedb/lancedb';
import { DataType, type Field } from '#arrow';
import type { BlobRange, BlobRows } from '#catalog/blobs.ts';
import { blobEncoding, blobV2 } from '#shared/arrow/blobs.ts';
import { CatalogError } from '#shared/errors.ts';
import { parseFieldPath } from '#shared/fieldPath.ts';
import { unreadableEncoding } from '#shared/format/blobCells.ts';
import { mediaType } from '#shared/format/mediaTypes.ts';

/** The size of a blob and its first bytes, all of them for a small image. */
export type BlobHead = { readonly size: number; readonly head: Uint8Array };

/** Bytes that are read of each blob. They tell its type, and show the start of text. */
const headBytes = 2_048;
/** An image of at most this many bytes is read whole, so that it can be shown as a thumbnail. */
const maxImageBytes = 2 * 2 ** 20;
/** Maximum bytes of all images of one request. Further images are not read whole. */
const maxBytes = 16 * 2 ** 20;
/** Number of blobs that are read at the same time. */
const maxReads = 8;

/**
 * Reads the sizes and first bytes of the blobs in rows; `null` for a null.
 * @throws CatalogError ColumnNotFound (12), Unsupported (0) for another encoding, InvalidInput (13) for another column
 */
export async function readBlobHeads(
  native: NativeTable,
  column: string,
  rows: BlobRows,
  signal: AbortSignal | undefined,
): Promise<(BlobHead | null)[]> {
  const files = await openBlobs(native, column, rows);
  const heads: (BlobHead | null)[] = files.map(() => null);
  let left = maxBytes;
  let next = 0;
  const readNext = async (): Promise<void> => {
    for (let index = next++; index < files.length; index = next++) {
      signal?.throwIfAborted();
      const file = files[index];
      if (!file) continue;
      const size = Number(file.size());
      let head = await readRange(file, 0, Math.min(size, headBytes));
      const isThumbnail =
        head.length < size && size <= Math.min(maxImageBytes, left) && mediaType(head).kind === 'image';
      // Counted before the read, because other reads run meanwhile.
      if (isThumbnail) {
        left -= size;
        head = await readRange(file, 0, size);
      }
      heads[index] = { size, head };
    }
  };
  await Promise.all(Array.from({ length: maxReads }, readNext));
  return heads;
}

/** Reads bytes [start, end) of the blob in a row, fewer at its end; none of a null. @throws as `readBlobHeads` does */
export async function readBlob(
  native: NativeTable,
  column: string,
  { start, end, ...at }: BlobRange,
): Promise<Uint8Array> {
  const row = 'row' in at ? { start: at.row, end: at.row + 1 } : { rowIds: [at.rowId] };
  const [file] = await openBlobs(native, column, row);
  const size = file ? Number(file.size()) : 0;
  if (!file || start >= size) return new Uint8Array(0);
  return readRange(file, start, Math.min(end, size));
}

const readRange = async (file: BlobFile, start: number, end: number): Promise<Uint8Array> =>
  end <= start ? new Uint8Array(0) : file.readRange(BigInt(start), BigInt(end));

async function openBlobs(native: NativeTable, column: string, rows: BlobRows): Promise<(BlobFile | null)[]> {
  await checkBlobColumn(native, column);
  const rowIds = 'rowIds' in rows ? rows.rowIds.map(BigInt) : await rowIdsAt(native, rows);
  return rowIds.length === 0 ? [] : native.fetchBlobFiles(column, rowIds);
}

async function rowIdsAt(native: NativeTable, { start, end }: { start: number; end: number }): Promise<bigint[]> {
  const query = native
    .query()
    .select([])
    .withRowId()
    .offset(start)
    .limit(end - start);
  const rowIds = (await query.toArrow()).getChild('_rowid');
  return rowIds ? [...(rowIds as Iterable<bigint>)] : [];
}

/** Returns the field at a path through structs. */
const findField = (fields: readonly Field[], [name, ...inner]: readonly string[]): Field | undefined => {
  const field = fields.find((one) => one.name === name);
  if (inner.length === 0 || !field) return field;
  return DataType.isStruct(field.type) ? findField(field.type.children, inner) : undefined;
};

async function checkBlobColumn(native: NativeTable, column: string): Promise<void> {
  const field = findField((await native.schema()).fields, parseFieldPath(column) ?? [column]);
  if (!field) throw new CatalogError('ColumnNotFound', `The table has no column "${column}".`, 'Open the table again.');
  const encoding = blobEncoding(field);
  if (encoding === blobV2) return;
  if (encoding === undefined)
    throw new CatalogError('InvalidInput', `Column "${column}" has no blobs.`, 'Read it with a query.');
  throw new CatalogError('Unsupported', unreadableEncoding(column, encoding), '');
}
