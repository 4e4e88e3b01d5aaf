import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { Binary, LargeBinary, Table, tableFromIPC, Utf8, vectorFromArray } from '#arrow';
import { fitTable } from '#session/display/fitTable.ts';
import { createThumbnailMaker } from '#session/display/thumbnails.ts';
import { imageMime } from '#shared/format/images.ts';
import { encodePng } from '../../../../scripts/sample/pictures.ts';

const png = encodePng({ width: 2, height: 2, rgba: Buffer.alloc(16, 200) });
/** Returns an opaque picture that can't be compressed. */
const noise = (side: number): Uint8Array => {
  const rgba = randomBytes(side * side * 4);
  for (let at = 3; at < rgba.length; at += 4) rgba[at] = 255;
  return encodePng({ width: side, height: side, rgba });
};
const picture = (bytes: number): Buffer => Buffer.concat([png, Buffer.alloc(bytes - png.length)]);

/** Returns a table with a picture of these bytes in each row; null for no picture. */
function pictures(sizes: readonly (number | null)[], type = new Binary()): Table {
  const cells = sizes.map((size) => (size === null ? null : picture(size)));
  const ids = vectorFromArray(sizes.map((_, row) => row));
  return new Table({ id: ids, photo: vectorFromArray(cells, type) });
}

const photosIn = (bytes: Uint8Array): (number | undefined)[] => {
  const column = tableFromIPC(bytes).getChild('photo')!;
  return Array.from({ length: column.length }, (_, row) => (column.get(row) as Uint8Array | null)?.length);
};
/** Returns a column of 500 strings of 1,000 characters. */
const longTexts = () => vectorFromArray(times(500, 'x'.repeat(1000)), new Utf8());
const times = <T>(count: number, item: T): T[] => Array.from({ length: count }, () => item);

suite('A table that is too large for an output', () => {
  for (const type of [new Binary(), new LargeBinary()])
    test(`keeps all rows, and the pictures of the first ones: ${String(type)}`, () => {
      const sizes = times<number | null>(200, 130_000).with(1, null).with(150, 300);
      const { bytes, rows, omitted } = fitTable(pictures(sizes, type as Binary), {
        maxRows: 1000,
        maxBytes: 1_000_000,
      });
      assert.equal(rows, 200);
      assert.ok(bytes.length <= 1_000_000 && bytes.length > 870_000, `${bytes.length} bytes`);
      const expected = sizes.map((size, row) => (row < 8 || size === 300 ? (size ?? undefined) : undefined));
      assert.deepEqual(photosIn(bytes), expected);
      assert.equal(tableFromIPC(bytes).schema.fields[1]?.nullable, true);
      assert.deepEqual(omitted, {
        photo: { from: 8, sizes: sizes.slice(8).map((size) => (size === 300 ? 0 : size)), mime: 'image/png' },
      });
    });

  test('has pictures over several batches, and at most the requested rows', () => {
    const table = pictures(times(30, 10_000)).concat(pictures(times(30, 10_000)));
    const { bytes, rows, omitted } = fitTable(table, { maxRows: 50, maxBytes: 400_000 });
    assert.equal(rows, 50);
    assert.deepEqual([omitted?.['photo']?.from, omitted?.['photo']?.sizes.length], [39, 11]);
    assert.deepEqual(photosIn(bytes), [...times(39, 10_000), ...times(11, undefined)]);
  });

  test('has no picture if not even the first one fits', () => {
    const { rows, omitted } = fitTable(pictures(times(5, 90_000)), { maxRows: 1000, maxBytes: 50_000 });
    assert.deepEqual([rows, omitted?.['photo']?.from], [5, 0]);
  });

  test('has fewer rows, all of them whole, if this is requested', () => {
    const { bytes, rows, omitted } = fitTable(pictures(times(200, 130_000)), {
      maxRows: 1000,
      maxBytes: 1_000_000,
      isWhole: true,
    });
    assert.deepEqual([rows, omitted], [7, undefined]);
    assert.deepEqual(photosIn(bytes), times(7, 130_000));
  });

  test('has nearly as many rows as fit if there are no pictures, or only small ones', () => {
    const { bytes, rows } = fitTable(new Table({ text: longTexts() }), { maxRows: 1000, maxBytes: 256 * 1024 });
    assert.ok(bytes.length <= 256 * 1024 && rows > 220, `${rows} rows`);
    const small = fitTable(pictures(times(500, 1000)), { maxRows: 1000, maxBytes: 256 * 1024 });
    assert.ok(small.rows > 200 && small.omitted === undefined, `${small.rows} rows`);
  });

  test('has fewer rows and some pictures if neither fit', () => {
    const table = new Table({ text: longTexts(), photo: pictures(times(500, 20_000)).getChild('photo')! });
    const { bytes, rows, omitted } = fitTable(table, { maxRows: 1000, maxBytes: 256 * 1024 });
    assert.ok(bytes.length <= 256 * 1024 && rows > 150 && rows < 220, `${rows} rows`);
    assert.ok((omitted?.['photo']?.from ?? 0) >= 3, JSON.stringify(omitted?.['photo']?.from));
  });

  test('has a thumbnail of every picture in its row, and small pictures as they are', () => {
    const images = times(200, noise(180)).with(3, png);
    const cells = images.with(150, noise(180).subarray(0, 60_000));
    const photo = vectorFromArray(cells, new Binary());
    const table = new Table({ id: vectorFromArray(cells.map((_, row) => row)), photo });
    for (const maxBytes of [8 * 1024 * 1024, 512 * 1024]) {
      const maker = createThumbnailMaker(Infinity);
      const { bytes, rows, omitted, isCut, thumbnails } = fitTable(table, {
        maxRows: 1000,
        maxBytes,
        thumbnails: maker,
      });
      assert.ok(bytes.length <= maxBytes && bytes.length < 4_000_000, `${bytes.length} bytes`);
      const column = tableFromIPC(bytes).getChild('photo')!;
      const shown = Array.from({ length: rows }, (_, row) => column.get(row) as Uint8Array | null);
      assert.equal(rows, 200);
      assert.deepEqual([...shown[3]!], [...png]);
      // The picture in row 150 is damaged, so it has no thumbnail.
      assert.deepEqual([shown[150], isCut], [null, true]);
      const others = shown.filter((_, row) => row !== 3 && row !== 150);
      assert.ok(others.every((one) => one !== null && imageMime(one) === 'image/jpeg'));
      const sizes = cells.map((cell) => (cell === png ? 0 : cell.length));
      assert.deepEqual(omitted, { photo: { from: 0, sizes, mime: 'image/png', thumbnails: true } });
      assert.equal(thumbnails?.get(1)?.length, 200);
    }
  });

  test('says which pictures are left out if not even the thumbnails fit', () => {
    const photo = vectorFromArray(times(200, noise(180)), new Binary());
    const thumbnails = createThumbnailMaker(Infinity);
    const { bytes, rows, isCut } = fitTable(new Table({ photo }), { maxRows: 1000, maxBytes: 100_000, thumbnails });
    assert.ok(bytes.length <= 100_000 && bytes.length > 90_000, `${bytes.length} bytes`);
    const shown = photosIn(bytes).filter((size) => size !== undefined);
    assert.deepEqual([rows, isCut], [200, true]);
    assert.ok(shown.length > 20 && shown.length < 200, `${shown.length} thumbnails`);
  });

  test('is whole if it fits, and may be empty', () => {
    const table = pictures([5000, null, 6000]);
    assert.deepEqual(photosIn(fitTable(table, { maxRows: 10, maxBytes: 100_000 }).bytes), [5000, undefined, 6000]);
    assert.equal(fitTable(pictures([]), { maxRows: 10, maxBytes: 100_000 }).rows, 0);
  });
});
