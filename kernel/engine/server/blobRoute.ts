import {
  type Field,
  LargeBinary,
  makeData,
  RecordBatch,
  Struct,
  Table as ArrowTable,
  tableToIPC,
  Uint64,
} from '#arrow';
import type { IncomingMessage } from 'node:http';
import { blobHeadSchema, maxBlobRange } from '#shared/arrow/blobs.ts';
import { pageRows } from '#shared/mime.ts';
import { isCount } from '#shared/shape.ts';
import type { BlobRequest } from '#catalog/blobs.ts';
import type { BlobHead } from '#engine/dir/dirBlobs.ts';
import type { DirCatalog } from '#engine/dir/dirCatalog.ts';
import { BodyReader, defaultLimits } from './httpBody.ts';
import {
  count,
  invalidRequestField,
  missing,
  optionalString,
  requiredCount,
  requiredString,
  textList,
} from './requestBody.ts';

/**
 * Answers a request for blobs: with an Arrow stream of their sizes and first bytes, or with bytes of one blob.
 * @throws CatalogError InvalidInput (13) for a request of another shape, or an error of the table
 */
export async function readBlobs(
  catalog: DirCatalog,
  request: IncomingMessage,
  signal: AbortSignal,
): Promise<Uint8Array> {
  const { id, version, column, ...wanted } = await blobRequest(request);
  const name = id.at(-1) ?? missing('id');
  const table = await catalog.openTable(name, { namespacePath: id.slice(0, -1), version, signal });
  try {
    if ('row' in wanted || 'rowId' in wanted) return await table.readBlob(column, wanted, { signal });
    const heads = await table.readBlobHeads(column, wanted, { signal });
    return headStream(column, heads);
  } finally {
    table.close();
  }
}

async function blobRequest(request: IncomingMessage): Promise<BlobRequest> {
  const body = await new BodyReader(request, defaultLimits).json();
  const column = {
    id: textList(body, 'id') ?? missing('id'),
    version: requiredCount(body, 'version'),
    column: requiredString(body, 'column'),
  };
  const rowIds = textList(body, 'rowIds');
  if (rowIds) {
    if (rowIds.length > pageRows || !rowIds.every((one) => isRowId(one)))
      invalidRequestField('rowIds', `at most ${pageRows} ids of rows`);
    return { ...column, rowIds };
  }
  const [row, rowId] = [count(body, 'row'), optionalString(body, 'rowId')];
  const [start, end] = [requiredCount(body, 'start'), requiredCount(body, 'end')];
  const most = row === undefined && rowId === undefined ? pageRows : maxBlobRange;
  if (!isCount(end - start) || end - start > most) invalidRequestField('end', `at most start + ${most}`);
  if (rowId !== undefined && !isRowId(rowId)) invalidRequestField('rowId', 'the id of a row');
  return { ...column, start, end, ...(row !== undefined && { row }), ...(rowId !== undefined && { rowId }) };
}

/** Whether a string is a decimal number that can be the id of a row. */
const isRowId = (text: string): boolean => /^\d{1,20}$/.test(text) && BigInt(text) < 2n ** 64n;

function headStream(column: string, blobs: readonly (BlobHead | null)[]): Uint8Array {
  const { length } = blobs;
  const valueOffsets = new BigInt64Array(length + 1);
  for (const [index, blob] of blobs.entries())
    valueOffsets[index + 1] = valueOffsets[index]! + BigInt(blob?.head.length ?? 0);
  const bytes = new Uint8Array(Number(valueOffsets[length]));
  const nullBitmap = new Uint8Array(Math.ceil(length / 64) * 8);
  let nullCount = 0;
  for (const [index, blob] of blobs.entries()) {
    if (!blob) nullCount++;
    else {
      bytes.set(blob.head, Number(valueOffsets[index]));
      nullBitmap[index >> 3]! |= 1 << (index & 7);
    }
  }
  const schema = blobHeadSchema(column);
  const [field] = schema.fields as [Field<Struct>];
  const children = [
    makeData({ type: new Uint64(), data: BigUint64Array.from(blobs, (blob) => BigInt(blob?.size ?? 0)) }),
    makeData({ type: new LargeBinary(), valueOffsets, data: bytes }),
  ];
  const values = makeData({ type: field.type, length, nullCount, nullBitmap, children });
  const rows = makeData({ type: new Struct(schema.fields), length, nullCount: 0, children: [values] });
  return tableToIPC(new ArrowTable(schema, [new RecordBatch(schema, rows)]), 'stream');
}
