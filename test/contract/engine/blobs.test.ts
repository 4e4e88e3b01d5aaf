import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { blob, connect } from '@lancedb/lancedb';
import { Field, Int64, Schema, Struct, Utf8 } from '#arrow';
import type { EngineProcess } from '#catalog/engineProcess.ts';
import { columnFormatter } from '#shared/format/cellText.ts';
import { readArrow } from '#shared/arrow/readArrow.ts';
import { inRoot } from '../../../scripts/paths.ts';
import { catalogSource, type PanelCatalog, type TableSource } from '../../../extension/panels/tableSource.ts';
import { python } from '../../harness/needs/python.ts';
import { tempFolder } from '../../harness/temp.ts';
import { png } from '../../ui/parts/gridRows.ts';
import { startEngine } from '../subjects.ts';

const text = `Grüße, ${'words '.repeat(2000)}`;
const wav = Buffer.concat([Buffer.from('RIFF\0\0\0\0WAVEfmt '), Buffer.alloc(500_000, 7)]);
const largeImage = Buffer.concat([png(5), Buffer.alloc(3_000_000)]);
const values = [
  Buffer.from(png(3)),
  null,
  Buffer.alloc(0),
  wav,
  Buffer.from(text),
  Buffer.alloc(70_000, 1),
  largeImage,
] as const;

suite('blobs in the table panel', function () {
  this.timeout(60_000);
  const root = tempFolder();
  const { signal } = new AbortController();
  let engine: EngineProcess;
  const sourceOf = (table: string): TableSource =>
    catalogSource({ connection: 'test', path: [], table }, () => Promise.resolve(engine.catalog(root)));
  /** Reads the cells of a column as the panel does. */
  const cellsOf = async (source: TableSource, start: number, end: number, column = 'media') => {
    const table = readArrow(await source.rows(start, end, signal, [column]));
    const read = columnFormatter(table.getChildAt(0)!, { field: table.schema.fields[0] });
    return Array.from({ length: table.numRows }, (_, row) => read(row));
  };

  suiteSetup(async () => {
    const db = await connect(root);
    const schema = new Schema([new Field('id', new Int64()), blob('media')]);
    const rows = values.map((media, id) => ({ id: BigInt(id), media }));
    const table = await db.createTable('clips', rows, { schema });
    // Row numbers are no longer row ids then.
    await table.add([{ id: 90n, media: Buffer.from('deleted') }]);
    await table.add([{ id: 91n, media: Buffer.from('last') }]);
    await table.delete('id = 90');
    const clip = new Struct([new Field('caption', new Utf8(), true), blob('media file')]);
    const nested = new Schema([new Field('id', new Int64()), new Field('clip', clip, true)]);
    const clips = [{ caption: 'sound', 'media file': wav }, { caption: 'none', 'media file': null }, null];
    const nestedRows = clips.map((one, id) => ({ id: BigInt(id), clip: one }));
    await db.createTable('nested', nestedRows, { schema: nested });
    db.close();
    execFileSync(python(), [inRoot('test/contract/python/legacyBlobs.py'), join(root, 'old.lance')]);
    engine = await startEngine();
  });
  suiteTeardown(() => engine.dispose());

  test('have their size and type, and images of a usual size are whole', async () => {
    const source = sourceOf('clips');
    const opened = await source.open(signal);
    assert.equal(opened.readsBlobs, true);
    assert.deepEqual(
      opened.columns.map(({ blob: encoding }) => encoding),
      [undefined, 'lance.blob.v2'],
    );
    const cells = await cellsOf(source, 0, 8);
    assert.deepEqual(
      cells.map(({ kind, text: shown }) => [kind, shown.slice(0, 30)]),
      [
        ['image', 'PNG image, 1.7 KB'],
        ['null', 'null'],
        ['blob', 'empty blob'],
        ['blob', 'WAV audio, 500 KB'],
        ['blob', 'text, 12 KB: Grüße, words word'],
        ['blob', 'bytes, 70 KB'],
        ['blob', 'PNG image, 3 MB'],
        ['blob', 'text, 4 bytes: last'],
      ],
    );
    const [image] = cells;
    assert.ok(image?.kind === 'image' && Buffer.from(image.bytes).equals(values[0]));
  });

  test('are read by ranges, to their end', async () => {
    const source = sourceOf('clips');
    await source.open(signal);
    const range = async (row: number, start: number, end: number) =>
      Buffer.from(await source.blob!('media', { row, start, end }, signal));
    assert.deepEqual(await range(3, 100, 2_000), wav.subarray(100, 2_000));
    assert.deepEqual(await range(3, 499_000, 600_000), wav.subarray(499_000));
    assert.equal((await range(3, 600_000, 600_001)).length, 0);
    assert.equal((await range(1, 0, 10)).length, 0);
    assert.equal(String(await range(7, 0, 10)), 'last');
  });

  test('are read by the ids of rows, in their order', async () => {
    const source = sourceOf('clips');
    await source.open(signal);
    const clips = await engine.catalog(root).openTable('clips');
    const ids = (await clips.query().select(['_rowid']).toArrow()).getChild('_rowid')!;
    const rowIds = [7, 0, 1, 4].map((row) => String(ids.get(row)));
    const table = readArrow(await source.blobsById!.heads('media', rowIds, signal));
    const read = columnFormatter(table.getChildAt(0)!, { field: table.schema.fields[0] });
    assert.deepEqual(
      [0, 1, 2, 3].map((row) => read(row).text.slice(0, 22)),
      ['text, 4 bytes: last', 'PNG image, 1.7 KB', 'null', 'text, 12 KB: Grüße, wo'],
    );
    const range = async (rowId: string, start: number, end: number) =>
      Buffer.from(await source.blobsById!.range('media', { rowId, start, end }, signal));
    assert.equal(String(await range(rowIds[0]!, 1, 10)), 'ast');
    assert.equal((await range(rowIds[2]!, 0, 10)).length, 0);
    await assert.rejects(range('1; drop', 0, 10), /rowId/);
    await assert.rejects(source.blobsById!.heads('media', ['-1'], signal), /rowIds/);
  });

  test('in a struct are read by their path, and are named in the struct', async () => {
    const source = sourceOf('nested');
    const opened = await source.open(signal);
    assert.equal(opened.readsBlobs, true);
    assert.deepEqual(
      opened.columns[1]!.fields?.map(({ blob: encoding }) => encoding),
      [undefined, 'lance.blob.v2'],
    );
    assert.equal(opened.columns[1]!.type, 'struct<caption: utf8, media file: blob>');
    const path = 'clip.`media file`';
    const cells = await cellsOf(source, 0, 3, path);
    assert.deepEqual(
      cells.map(({ text: shown }) => shown),
      ['WAV audio, 500 KB', 'null', 'null'],
    );
    const bytes = Buffer.from(await source.blob!(path, { row: 0, start: 100, end: 2_000 }, signal));
    assert.deepEqual(bytes, wav.subarray(100, 2_000));
    assert.equal((await source.blob!(path, { row: 2, start: 0, end: 10 }, signal)).length, 0);
    const structs = await cellsOf(source, 0, 3, 'clip');
    assert.deepEqual(
      structs.map(({ text: shown }) => shown),
      ['{caption: "sound", "media file": blob, 500 KB}', '{caption: "none", "media file": null}', 'null'],
    );
    const { blobs } = engine.catalog(root);
    const column = { id: ['nested'], version: opened.version!, column: 'clip.caption' };
    await assert.rejects(blobs!.heads(column, { start: 0, end: 3 }, signal), /"clip.caption" has no blobs/);
    await assert.rejects(
      blobs!.heads({ ...column, column: 'clip.other' }, { start: 0, end: 3 }, signal),
      /no column "clip.other"/,
    );
  });

  test('of a version stay readable after a later one', async () => {
    const source = sourceOf('clips');
    await source.open(signal);
    const table = await engine.catalog(root).openTable('clips');
    await table.delete('id = 91');
    assert.equal((await cellsOf(source, 7, 8))[0]?.text, 'text, 4 bytes: last');
  });

  test('of an older encoding are shown by their sizes, and refused by its name', async () => {
    const source = sourceOf('old');
    const opened = await source.open(signal);
    assert.deepEqual([opened.readsBlobs, opened.columns[1]?.blob], [undefined, 'lance-encoding:blob']);
    const cells = await cellsOf(source, 0, 3);
    assert.deepEqual(
      cells.map(({ text: shown }) => shown),
      ['blob, 70 KB', 'empty blob', 'null'],
    );
    assert.match((cells[0] as { reason?: string }).reason!, /"lance-encoding:blob". Write the column again/);
    const { blobs } = engine.catalog(root);
    const column = { id: ['old'], version: opened.version!, column: 'media' };
    await assert.rejects(blobs!.heads(column, { start: 0, end: 3 }, signal), /encoding is "lance-encoding:blob"/);
    await assert.rejects(blobs!.heads({ ...column, column: 'id' }, { start: 0, end: 3 }, signal), /has no blobs/);
  });

  test('of a server that has no route for them are shown by their sizes', async () => {
    const catalog = engine.catalog(root);
    const withoutBlobs: PanelCatalog = {
      location: catalog.location,
      describeTable: (name, options) => catalog.describeTable(name, options),
      openTable: (name, options) => catalog.openTable(name, options),
    };
    const place = { connection: 'test', path: [], table: 'clips' };
    const source = catalogSource(place, () => Promise.resolve(withoutBlobs));
    assert.equal((await source.open(signal)).readsBlobs, undefined);
    const cells = await cellsOf(source, 0, 4);
    assert.deepEqual(
      cells.map(({ text: shown }) => shown),
      ['blob, 1.7 KB', 'null', 'empty blob', 'blob, 500 KB'],
    );
    assert.match((cells[0] as { reason?: string }).reason!, /Only the table panel/);
  });
});
