import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import * as arrow from '#arrow';
import { adoptTable } from '#shared/arrow/adoptTable.ts';
import { columnsOf } from '#shared/arrow/arrowTypes.ts';
import { isCatalogError } from '#shared/errors.ts';
import { columnFormatter, unlimited } from '#shared/format/cellText.ts';
import { npm, quietInstall } from '../../../../scripts/npm.mjs';

type Arrow = typeof arrow;
const versions = ['15.0.2', '17.0.0', '18.1.0', '21.0.0'] as const;
const builds = ['cjs', 'esm'] as const;

/**
 * Builds a table of three rows with every type whose values each version of Arrow can build. The middle row is null.
 */
function build(a: Arrow): arrow.Table {
  const field = (name: string, type: arrow.DataType) => new a.Field(name, type, true, new Map([['of', name]]));
  const entries = new a.Struct([new a.Field('key', new a.Utf8(), false), field('value', new a.Int32())]);
  const columns: [name: string, type: arrow.DataType, values: unknown[]][] = [
    ['int64', new a.Int64(), [9007199254740993n, null, -5n]],
    ['uint64', new a.Uint64(), [18446744073709551615n, null, 0n]],
    ['int8', new a.Int8(), [-128, null, 127]],
    ['float', new a.Float32(), [0.1, null, NaN]],
    ['double', new a.Float64(), [0.1, null, -0]],
    ['half', new a.Float16(), [0.5, null, 65504]],
    ['utf8', new a.Utf8(), ['a', null, 'null']],
    ['large_utf8', new a.LargeUtf8(), ['a', null, 'größer']],
    ['bool', new a.Bool(), [true, null, false]],
    ['date32', new a.DateDay(), [new Date(0), null, new Date(86_400_000 * 3)]],
    ['date64', new a.DateMillisecond(), [new Date(0), null, new Date(86_400_000 * 3)]],
    ['us', new a.TimestampMicrosecond('Europe/Paris'), [1_700_000_000_000, null, 0]],
    ['ns', new a.TimestampNanosecond(), [1_700_000_000_000, null, 0]],
    ['s', new a.TimestampSecond(), [1_700_000_000_000, null, 0]],
    ['time', new a.TimeMicrosecond(), [5n, null, 86_399_999_999n]],
    ['duration', new a.DurationMillisecond(), [5n, null, -7n]],
    ['dictionary', new a.Dictionary(new a.Utf8(), new a.Int32(), 7), ['x', null, 'y']],
    ['list', new a.List(field('item', new a.Int32())), [[1, 2], null, []]],
    ['vector', new a.FixedSizeList(2, field('item', new a.Float32())), [[1, 2], null, [3, 4]]],
    [
      'struct',
      new a.Struct([field('x', new a.Int32()), field('y', new a.Utf8())]),
      [{ x: 1, y: 'q' }, null, { x: 2, y: null }],
    ],
    ['map', new a.Map_(field('entries', entries) as never), [new Map([['k', 1]]), null, new Map()]],
    ['binary', new a.Binary(), [Uint8Array.of(1, 2), null, Uint8Array.of()]],
    ['fixed', new a.FixedSizeBinary(2), [Uint8Array.of(1, 2), null, Uint8Array.of(3, 4)]],
  ];
  const price = new a.Decimal(2, 10);
  const decimals = Uint32Array.of(12345, 0, 0, 0, 0, 0, 0, 0, ~0 - 4, ~0, ~0, ~0);
  const nullBitmap = Uint8Array.of(0b101);
  const union = new a.DenseUnion([0, 1], [field('i', new a.Int32()), field('s', new a.Utf8())]);
  const either = [
    a.vectorFromArray([7], new a.Int32()).data[0]!,
    a.vectorFromArray(['s', null], new a.Utf8()).data[0]!,
  ];
  const fields = [...columns.map(([name, type]) => field(name, type)), field('decimal', price), field('union', union)];
  const children = [
    ...columns.map(([, type, values]) => a.vectorFromArray(values, type).data[0]!),
    a.makeData({ type: price, length: 3, nullCount: 1, nullBitmap, data: decimals }),
    a.makeData({
      type: union,
      length: 3,
      typeIds: Int8Array.of(1, 1, 0),
      valueOffsets: Int32Array.of(0, 1, 0),
      children: either,
    } as never),
  ];
  const schema = new a.Schema(fields, new Map([['made by', 'a copy']]));
  const data = a.makeData({ type: new a.Struct(fields), length: 3, nullCount: 0, children });
  return new a.Table(schema, [new a.RecordBatch(schema, data)]);
}

/** Returns every cell as exact text, after our writer and reader. */
function rowsThroughStream(table: arrow.Table): string[][] {
  const back = arrow.tableFromIPC(arrow.tableToIPC(table, 'stream'));
  const read = back.schema.fields.map((_, i) => columnFormatter(back.getChildAt(i)!, { limits: unlimited }));
  return Array.from({ length: back.numRows }, (_, row) => read.map((cell) => cell(row).text));
}

suite('Tables of other copies of apache-arrow', function () {
  this.timeout(120_000);
  let folder: string;

  const load = async (version: string, kind: (typeof builds)[number]): Promise<Arrow> => {
    const copy = join(folder, 'node_modules', `arrow-${version}`);
    if (kind === 'cjs') return createRequire(join(folder, 'x.js'))(copy) as Arrow;
    return (await import(pathToFileURL(join(copy, 'Arrow.node.mjs')).href)) as Arrow;
  };

  suiteSetup(async () => {
    folder = await mkdtemp(join(tmpdir(), 'lance-arrows-'));
    await writeFile(join(folder, 'package.json'), '{"private":true}');
    const copies = versions.map((version) => `arrow-${version}@npm:apache-arrow@${version}`);
    await npm(['install', ...quietInstall, ...copies], { cwd: folder, quiet: true });
  });

  suiteTeardown(() => rm(folder, { recursive: true, force: true }));

  const expected = rowsThroughStream(build(arrow));

  for (const version of versions) {
    for (const kind of builds) {
      test(`a table of ${version} (${kind}) reads back with the same rows and schema`, async () => {
        const foreign = build(await load(version, kind));
        const adopted = adoptTable(foreign);
        assert.ok(adopted);
        assert.deepEqual(rowsThroughStream(adopted), expected);
        assert.deepEqual(columnsOf(adopted.schema), columnsOf(build(arrow).schema));
        assert.equal(adopted.schema.fields[0]!.metadata.get('of'), 'int64');
        assert.equal(adopted.schema.metadata.get('made by'), 'a copy');
      });

      test(`a slice of a table of ${version} (${kind}) keeps its place`, async () => {
        const foreign = build(await load(version, kind)).slice(1, 3);
        assert.deepEqual(rowsThroughStream(adoptTable(foreign)!), expected.slice(1));
      });
    }
  }

  test('a record batch becomes a table', async () => {
    const [batch] = build(await load('17.0.0', 'esm')).batches;
    assert.deepEqual(rowsThroughStream(adoptTable(batch)!), expected);
  });

  test('batches that share a dictionary go on sharing it', async () => {
    const table = build(await load('17.0.0', 'cjs'));
    const adopted = adoptTable(table.concat(table))!;
    assert.deepEqual(rowsThroughStream(adopted), [...expected, ...expected]);
  });

  test('a table of ours around batches of another copy is taken over too', async () => {
    const other = build(await load('21.0.0', 'cjs'));
    const own = build(arrow);
    Object.defineProperty(own, 'batches', { value: other.batches });
    const adopted = adoptTable(own)!;
    assert.notEqual(adopted, own);
    assert.deepEqual(rowsThroughStream(adopted), expected);
  });

  test('nothing is copied', async () => {
    const foreign = build(await load('17.0.0', 'esm'));
    const adopted = adoptTable(foreign)!;
    assert.equal(
      adopted.batches[0]!.data.children[0]!.values.buffer,
      foreign.batches[0]!.data.children[0]!.values.buffer,
    );
  });

  test('a table without rows keeps its columns', async () => {
    const a = await load('18.1.0', 'esm');
    const adopted = adoptTable(new a.Table(build(a).schema, []))!;
    assert.equal(adopted.numRows, 0);
    assert.equal(adopted.schema.fields.length, expected[0]!.length);
  });

  test('a table of ours is returned as it is', () => {
    const own = build(arrow);
    assert.equal(adoptTable(own), own);
  });

  test('what is no Arrow table gives undefined', () => {
    const almost = { schema: { fields: [{ name: 'x' }] }, batches: [] };
    for (const value of [
      undefined,
      null,
      1,
      'table',
      [],
      {},
      new Map(),
      almost,
      { schema: { fields: [] }, batches: [{}] },
    ])
      assert.equal(adoptTable(value), undefined);
  });

  test('a type that this version does not know is refused by the name of its column', () => {
    const alien = {
      schema: { fields: [{ name: 'runs', type: { typeId: 22 } }] },
      batches: [],
    };
    assert.throws(
      () => adoptTable(alien),
      (error: unknown) => isCatalogError(error, 'Unsupported') && error.message.includes('"runs"'),
    );
  });
});
