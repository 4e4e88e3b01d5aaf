import assert from 'node:assert/strict';
import {
  Field,
  Int64,
  LargeBinary,
  makeData,
  RecordBatch,
  Schema,
  Struct,
  Table,
  tableToIPC,
  Uint64,
  Uint8,
  Utf8,
  vectorFromArray,
} from '#arrow';
import { columnsOf } from '#shared/arrow/arrowTypes.ts';
import { blobV2, legacyBlob } from '#shared/arrow/blobs.ts';
import type { ColumnPosition } from '#shared/protocol/webviewMessages.ts';
import { blobRows, png } from './parts/gridRows.ts';
import { openPanelPages } from './parts/panelPages.ts';
import { tableOf } from './parts/panelHostStandIn.ts';

const stored = new Struct([new Field('data', new LargeBinary(), true), new Field('uri', new Utf8(), true)]);
const media = new Field('media', stored, true, new Map([['ARROW:extension:name', blobV2]]));
const clip = (inner: Field) => new Struct([new Field('caption', new Utf8(), true), inner]);
const schema = new Schema([new Field('id', new Int64(), false), new Field('clip', clip(media), true)]);

// A query returns the descriptors of blobs.
const descriptor = new Struct([
  new Field('kind', new Uint8(), true),
  new Field('position', new Uint64(), true),
  new Field('size', new Uint64(), true),
  new Field('blob_id', new Uint8(), true),
]);
const described = new Field('media', descriptor, true, new Map([[legacyBlob, 'true']]));

const blobs = [png(3), new TextEncoder().encode('plain words')];
const clips = blobs.map(({ length }, row) => ({
  caption: `Clip ${row}`,
  media: { kind: 0, position: 0n, size: BigInt(length), blob_id: 0 },
}));

/** Returns columns and nested fields as the extension host sends them. */
function clipStream(columns: readonly ColumnPosition[]): Uint8Array {
  const [first] = columns;
  if (columns.length === 1 && Array.isArray(first) && first[1] === 1)
    return tableToIPC(blobRows(blobs, 2_048), 'stream');
  const values = columns.map((column) => {
    if (column === 0) return { name: 'id', vector: vectorFromArray([0n, 1n], new Int64()) };
    if (column === 1) return { name: 'clip', vector: vectorFromArray(clips, clip(described)) };
    return { name: 'clip.caption', vector: vectorFromArray(['Clip 0', 'Clip 1'], new Utf8()) };
  });
  const fields = values.map(({ name, vector }) => new Field(name, vector.type, true));
  const children = values.map(({ vector }) => vector.data[0]!);
  const data = makeData({ type: new Struct(fields), length: 2, nullCount: 0, children });
  return tableToIPC(new Table(new Schema(fields), [new RecordBatch(new Schema(fields), data)]), 'stream');
}

suite('Blobs in a struct, in the panel in a browser', function () {
  this.timeout(60_000);
  const opened: ColumnPosition[] = [];
  const inPanel = openPanelPages({
    table: tableOf(2, { key: 'clips', columns: columnsOf(schema), selectsColumns: true, readsBlobs: true }),
    prepare: (host) => {
      host.rows = (_start, _end, columns = []) => clipStream(columns);
      host.nestedRows = (_start, _end, columns) => clipStream(columns);
      host.blob = (row, start, end, column) => {
        opened.push(column);
        return blobs[row]!.slice(start, end);
      };
    },
  });

  test('are named with their size in the struct, and are images and text once it is expanded', () =>
    inPanel(async (page) => {
      const cell = (row: number, column: number) =>
        page.locator(`[role=row][aria-rowindex="${row + 2}"] [role=gridcell][aria-colindex="${column + 2}"]`);
      const head = page.locator('.lance-header').filter({ hasText: 'clip' });
      assert.equal(await head.locator('.lance-type').innerText(), 'struct<caption: utf8, media: blob>');
      await cell(1, 1).getByText('{caption: "Clip 1", media: blob, 11 bytes}').waitFor();
      await cell(1, 1).click();
      await page.keyboard.press('Enter');
      await page.getByRole('treeitem', { name: /media/ }).getByText('blob, 11 bytes').waitFor();
      await page.keyboard.press('Escape');
      await head.click({ button: 'right' });
      await page.getByRole('menuitem', { name: 'Expand Fields' }).click();
      await cell(0, 2).locator('.lance-image:not(.lance-decoding)').waitFor();
      await cell(1, 2).getByText('text, 11 bytes: plain words').waitFor();
      await cell(1, 2).click();
      await page.keyboard.press('Enter');
      await page.locator('.lance-detail').getByText('plain words').waitFor();
      assert.deepEqual(opened, [[1, 1]]);
    }));
});
