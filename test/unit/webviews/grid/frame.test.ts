import assert from 'node:assert/strict';
import { setImmediate as turn } from 'node:timers/promises';
import {
  Binary,
  Field,
  Int32,
  makeData,
  RecordBatch,
  Schema,
  Struct,
  type Table,
  Table as ArrowTable,
  tableFromArrays,
  tableToIPC,
  vectorFromArray,
} from '#arrow';
import { columnsOf } from '#shared/arrow/arrowTypes.ts';
import type { ColumnPosition, PanelTable } from '#shared/protocol/webviewMessages.ts';
import { type GridFrame, pagedFrame, tableFrame } from '../../../../webviews/grid/frame.ts';

const pageOf = (start: number, end: number): Table =>
  tableFromArrays({
    id: BigInt64Array.from({ length: end - start }, (_, i) => BigInt(start + i)),
    name: Array.from({ length: end - start }, (_, i) => ((start + i) % 2 ? null : `name ${start + i}`)),
  });
const bytesOf = (start: number, end: number) => tableToIPC(pageOf(start, end), 'stream');

const shown = (frame: GridFrame, column: number) => [0, 1, 2].map((row) => frame.cell(row, column)?.text);

const panelTable = (numRows: number): PanelTable => ({
  title: 'shop/names',
  key: 'names',
  columns: columnsOf(pageOf(0, 1).schema),
  numRows,
  version: 1,
});

suite('The data of the grid', () => {
  test('cells are empty until their page came, and then are read by row and column', async () => {
    const frame = pagedFrame(panelTable(1200), (start, end) => Promise.resolve(bytesOf(start, end)));
    assert.equal(frame.cell(700, 0), undefined);
    await frame.show(700, 720, [0, 1]);
    assert.deepEqual(frame.cell(700, 0), { kind: 'number', text: '700' });
    assert.deepEqual(frame.cell(701, 1)?.kind, 'null');
    assert.equal(frame.cell(700, 0), frame.cell(700, 0));
    frame.close();
  });

  test('the grid is notified when a page has loaded', async () => {
    const frame = pagedFrame(panelTable(10), (start, end) => Promise.resolve(bytesOf(start, end)));
    const told = new Promise<void>((resolve) => frame.watch(resolve));
    void frame.show(0, 10, [0, 1]);
    await told;
    frame.close();
  });

  test('a page that could not be read shows in its cells and as the problem, until it is read', async () => {
    let broken = true;
    const frame = pagedFrame(panelTable(1000), (start, end) =>
      broken ? Promise.reject(new Error('The disk is gone.')) : Promise.resolve(bytesOf(start, end)),
    );
    await frame.show(0, 20, [0, 1]);
    assert.deepEqual(frame.cell(5, 0), {
      kind: 'failed',
      text: 'not loaded',
      reason: 'The disk is gone.',
    });
    assert.deepEqual(frame.problem(), { rows: '1–500', message: 'The disk is gone.' });
    broken = false;
    const told = new Promise<void>((resolve) => frame.watch(resolve));
    frame.retry();
    await told;
    assert.equal(frame.cell(5, 0)?.text, '5');
    assert.equal(frame.problem(), undefined);
    frame.close();
  });

  for (const [what, answer] of [
    ['is not Arrow', new TextEncoder().encode('garbage, and enough of it')],
    ['is no bytes', 'rows' as unknown as Uint8Array],
    ['has other columns', tableToIPC(tableFromArrays({ id: BigInt64Array.of(1n) }), 'stream')],
    ['has too few rows', bytesOf(0, 3)],
  ] as const) {
    test(`a page that ${what} is a failed page`, async () => {
      const frame = pagedFrame(panelTable(10), () => Promise.resolve(answer));
      await frame.show(0, 10, [0, 1]);
      assert.equal(frame.cell(0, 0)?.kind, 'failed');
      frame.close();
    });
  }

  test('a cell that an output has left out says so in place of its null', () => {
    const left = { text: 'image/png, 9 bytes', reason: 'too large' };
    const frame = tableFrame(pageOf(0, 4), (row, column) => (row >= 2 && column === 1 ? left : undefined));
    assert.deepEqual(frame.cell(3, 1), { kind: 'omitted', ...left });
    assert.equal(frame.cell(1, 1)?.kind, 'null');
    assert.equal(frame.cell(3, 0)?.kind, 'number');
    assert.equal(frame.exactText(2, 1), left.text);
  });

  test('a table in memory is read without paging', () => {
    const frame = tableFrame(pageOf(0, 30));
    assert.equal(frame.numRows, 30);
    assert.equal(frame.cell(29, 0)?.text, '29');
    assert.deepEqual(
      frame.columns.map(({ type, numeric }) => [type, numeric]),
      [
        ['int64', true],
        ['dictionary<int32, utf8>', false],
      ],
    );
  });

  test('columns of one name have their own values', async () => {
    const int = new Int32();
    const names = ['a', 'a (2)', 'a', 'a'];
    const schema = new Schema(names.map((name) => new Field(name, int, true)));
    const type = new Struct<{ [name: string]: Int32 }>(schema.fields);
    const children = names.map((_, i) => vectorFromArray([i], int).data[0]!);
    const batch = new RecordBatch(schema, makeData({ type, length: 1, nullCount: 0, children }));
    const table = new ArrowTable(schema, [batch]);
    const paged = pagedFrame({ ...panelTable(1), columns: columnsOf(schema) }, () =>
      Promise.resolve(tableToIPC(table, 'stream')),
    );
    await paged.show(0, 1, [0, 1]);
    for (const frame of [tableFrame(table), paged]) {
      assert.deepEqual(
        frame.columns.map(({ name }) => name),
        names,
      );
      assert.deepEqual(
        names.map((_, column) => frame.cell(0, column)?.text),
        ['0', '1', '2', '3'],
      );
    }
    paged.close();
  });

  suite('fields of structs as columns', () => {
    const geo = new Struct([new Field('lat', new Int32(), true)]);
    const at = new Struct([new Field('x.y', new Int32(), true), new Field('geo', geo, true)]);
    const schema = new Schema([new Field('id', new Int32(), false), new Field('at', at, true)]);
    const places = [{ 'x.y': 1, geo: { lat: 10 } }, null, { 'x.y': null, geo: null }];
    const structs = vectorFromArray(places, at).data[0]!;
    const rows = new ArrowTable(schema, [
      new RecordBatch(
        schema,
        makeData({
          type: new Struct(schema.fields),
          length: 3,
          nullCount: 0,
          children: [vectorFromArray([7, 8, 9], new Int32()).data[0]!, structs],
        }),
      ),
    ]);
    const [id, xy, lat] = [0, 2, 4];

    test('have their path as name, and are null where a struct around them is', async () => {
      const whole = { ...panelTable(3), columns: columnsOf(schema) };
      const paged = pagedFrame(whole, () => Promise.resolve(tableToIPC(rows, 'stream')));
      await paged.show(0, 3, [id, xy]);
      for (const frame of [tableFrame(rows), paged]) {
        assert.deepEqual(
          frame.columns.map(({ name, nullable }) => [name, nullable]),
          [
            ['id', false],
            ['at', true],
            ['at.`x.y`', true],
            ['at.geo', true],
            ['at.geo.lat', true],
          ],
        );
        assert.deepEqual(shown(frame, xy), ['1', 'null', 'null']);
        assert.deepEqual(shown(frame, lat), ['10', 'null', 'null']);
        assert.equal(frame.exactText(1, lat), '');
        assert.deepEqual(await frame.read(1, lat, new AbortController().signal), { kind: 'null' });
        assert.deepEqual(await frame.read(0, lat, new AbortController().signal), { kind: 'number', text: '10' });
        const read = await frame.readRows(0, 3, [lat, id], new AbortController().signal);
        assert.deepEqual([read.exactText(0, lat), read.exactText(1, lat), read.exactText(2, id)], ['10', '', '9']);
        frame.close();
      }
    });

    test('are read alone, without their struct, if the table can select them', async () => {
      const asked: unknown[] = [];
      const frame = pagedFrame(
        { ...panelTable(3), columns: columnsOf(schema), selectsColumns: true },
        (start, end, columns) => {
          asked.push(columns);
          const fields: Record<string, Int32Array> = {};
          // The names of nested fields are up to the server.
          for (const column of columns!) fields[column === 0 ? 'id' : String(column)] = Int32Array.of(1, 2, 3);
          return Promise.resolve(tableToIPC(tableFromArrays(fields).slice(start, end), 'stream'));
        },
      );
      frame.expand([1, 3]);
      await frame.show(0, 3, [id, xy, lat]);
      assert.deepEqual(new Set(asked.map(String)), new Set(['0', '1,0', '1,1,0']));
      assert.deepEqual(shown(frame, lat), ['1', '2', '3']);
      const before = asked.length;
      // The ids stay as they were read.
      frame.expand([1]);
      assert.deepEqual(shown(frame, id), ['1', '2', '3']);
      await frame.show(0, 3, [id]);
      assert.equal(asked.length, before);
      await frame.readRows(0, 3, [lat], new AbortController().signal);
      assert.deepEqual(asked.at(-1), [[1, 1, 0]]);
      frame.close();
    });
  });

  test('columns that leave the view are no longer read, and images are read for the last view only', async () => {
    const schema = new Schema([new Field('id', new Int32(), true), new Field('image', new Binary(), true)]);
    const reads: {
      start: number;
      columns: readonly ColumnPosition[] | undefined;
      signal: AbortSignal;
      answer(): void;
    }[] = [];
    const frame = pagedFrame(
      { ...panelTable(100_000), columns: columnsOf(schema), selectsColumns: true },
      (start, end, columns, signal) =>
        new Promise((resolve, reject) => {
          signal.addEventListener('abort', () => reject(new DOMException('Canceled.', 'AbortError')));
          const ids = tableFromArrays({ id: Int32Array.from({ length: end - start }, (_, i) => start + i) });
          reads.push({ start, columns, signal, answer: () => resolve(tableToIPC(ids, 'stream')) });
        }),
    );
    void frame.show(0, 20, [0, 1]);
    void frame.show(50_000, 50_020, [0, 1]);
    for (const read of reads.splice(0)) read.answer();
    await turn();
    for (const read of reads) if (read.columns?.[0] === 0) read.answer();
    await turn();
    const images = reads.filter(({ columns }) => columns?.[0] === 1);
    assert.deepEqual(
      images.map(({ start, signal }) => [start, signal.aborted]),
      [[50_000, false]],
    );
    void frame.show(50_000, 50_020, [0]);
    assert.equal(images[0]!.signal.aborted, true);
    frame.close();
  });

  test('the clipboard gets the whole value where the cell shows its head, and nothing for a null', () => {
    const long = 'x'.repeat(3000);
    const frame = tableFrame(tableFromArrays({ text: [long, null] }));
    assert.match(frame.cell(0, 0)?.text ?? '', /^x{2000}… \(3,000 bytes\)$/);
    assert.equal(frame.exactText(0, 0), long);
    assert.equal(frame.exactText(1, 0), '');
  });
});
