import {
  Binary,
  Field,
  FixedSizeList,
  Float32,
  Float64,
  Int32,
  type RecordBatch,
  Table,
  tableFromArrays,
  Utf8,
  vectorFromArray,
} from '#arrow';
import { changeColumns, ChangeRows } from '#catalog/view/changeRows.ts';
import type { RowAt } from '#catalog/view/rowChange.ts';
import { columnsOf } from '#shared/arrow/arrowTypes.ts';
import type { PanelTable } from '#shared/protocol/webviewMessages.ts';
import { encodePng } from '../../../scripts/sample/pictures.ts';

const rowsOf = (ids: number[], names: (string | null)[], prices: (number | null)[]): RecordBatch =>
  tableFromArrays({
    id: Int32Array.from(ids),
    name: vectorFromArray(names, new Utf8()) as never,
    price: vectorFromArray(prices) as never,
  }).batches[0]!;

/** Returns the differences of two small tables, as the views process writes them. */
export function buildRows(): RecordBatch {
  const before = rowsOf([3, 5, 7], ['chair', 'book', 'lamp'], [7.5, 2, null]);
  const after = rowsOf([5, 7, 9], ['long book', 'lamp', null], [2, 4, 1]);
  const was = (row: number): RowAt => ({ batch: before, row });
  const is = (row: number): RowAt => ({ batch: after, row });
  const rows = new ChangeRows(changeColumns({ schema: after.schema, key: ['id'] }));
  rows.add({ kind: 'removed', before: was(0) });
  rows.add({ kind: 'changed', before: was(1), after: is(0), columns: ['name'] });
  rows.add({ kind: 'changed', before: was(2), after: is(1), columns: ['price'] });
  rows.add({ kind: 'added', after: is(2) });
  return rows.take()!;
}

const size = { width: 64, height: 48 };

/** Returns an image of one color. */
function imageOf(red: number, green: number, blue: number): Uint8Array {
  const rgba = new Uint8Array(size.width * size.height * 4);
  for (let at = 0; at < rgba.length; at += 4) rgba.set([red, green, blue, 255], at);
  return encodePng({ ...size, rgba });
}

const vectorOf = (start: number): number[] => Array.from({ length: 32 }, (_, at) => Math.sin(start + at / 3));

function mediaOf(
  captions: string[],
  images: (Uint8Array | null)[],
  vectors: number[][],
  scores: (number | null)[],
): RecordBatch {
  return new Table({
    id: vectorFromArray([...captions.keys()], new Int32()),
    caption: vectorFromArray(captions, new Utf8()),
    image: vectorFromArray(images, new Binary()),
    embedding: vectorFromArray(vectors, new FixedSizeList(32, new Field('item', new Float32(), true))),
    score: vectorFromArray(scores, new Float64()),
  }).batches[0]!;
}

/** Returns the differences of two tables with texts, images, vectors and numbers. */
function buildMediaRows(): RecordBatch {
  const [red, green, blue] = [imageOf(200, 40, 40), imageOf(40, 160, 60), imageOf(40, 80, 220)];
  const before = mediaOf(
    ['A chair', 'A lamp', 'A desk'],
    [red, green, blue],
    [vectorOf(0), vectorOf(1), vectorOf(2)],
    [1, 2, null],
  );
  const after = mediaOf(
    ['A chair\nby the window', 'A lamp', 'A desk', 'New'],
    [red, blue, null, red],
    [vectorOf(0), vectorOf(4), vectorOf(2), vectorOf(3)],
    [1, 2, 2.5, 4],
  );
  const pair = (row: number) => ({ before: { batch: before, row }, after: { batch: after, row } });
  const rows = new ChangeRows(changeColumns({ schema: after.schema, key: ['id'] }));
  rows.add({ kind: 'changed', ...pair(0), columns: ['caption'] });
  rows.add({ kind: 'changed', ...pair(1), columns: ['image', 'embedding'] });
  rows.add({ kind: 'changed', ...pair(2), columns: ['image', 'score'] });
  rows.add({ kind: 'added', after: { batch: after, row: 3 } });
  return rows.take()!;
}

/** Returns the differences of two tables with images, and what the panel is told about them. */
export function comparedMedia(): { batch: RecordBatch; compared: PanelTable } {
  const batch = buildMediaRows();
  const counts = { added: 1, removed: 0, changed: 3 };
  const compared: PanelTable = {
    title: 'media/photos',
    key: 'photos 3 7',
    columns: columnsOf(batch.schema),
    numRows: batch.numRows,
    version: 7,
    selectsColumns: true,
    hasViews: true,
    view: {
      where: '',
      orderBy: [],
      changes: { path: ['media', 'photos'], version: 3, isBefore: true, key: ['id'], kind: null },
    },
    changes: {
      before: 'version 3',
      after: 'version 7',
      columnChanges: [],
      numShown: 6,
      state: { counts, readable: counts, rowsRead: 8, rowsTotal: 8, compared: 4, end: 'complete' },
    },
  };
  return { batch, compared };
}
