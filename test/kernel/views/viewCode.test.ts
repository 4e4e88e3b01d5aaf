import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { Field, FixedSizeList, Float32, Float64, Int64, Schema, Struct, TimestampMicrosecond, Utf8 } from '#arrow';
import type { Catalog } from '#catalog/catalog.ts';
import { typedLiteral } from '#catalog/typedLiteral.ts';
import { quotedText } from '#shared/sqlTokens.ts';
import type { PythonCatalog } from '#catalog/view/viewPython.ts';
import { viewCode } from '#catalog/view/viewCode.ts';
import type { ViewOfTable } from '#catalog/view/tableRows.ts';
import { openDir } from '#engine/dir/dirCatalog.ts';
import { isCatalogError } from '#shared/errors.ts';
import { fieldPathText, quotedFieldPath } from '#shared/fieldPath.ts';
import { fullKey, type ServeProcess, startServe, writeKeys } from '../../contract/serve/serveProcess.ts';
import { python } from '../../harness/needs/python.ts';
import { tempFolder } from '../../harness/temp.ts';
import { errorOf, kernelOfSuite, printed, run, startKernel } from '../support.ts';

const runFile = promisify(execFile);

// A column whose name and values have what each language reads in its own way.
const odd = 'it\'s "odd" \\ ü';
const oddValues = [
  '${process.exit(1)}',
  "it's",
  '"; drop',
  'back\\slash\\',
  'line\nbreak',
  '日本 😀',
  '`tick`',
  '{x}',
  '%d',
];
const times = [0n, 951_827_696_123_456n, -1n];

const schema = new Schema([
  new Field('id', new Int64(), false),
  new Field(odd, new Utf8(), true),
  new Field('price', new Float64(), true),
  new Field('at', new TimestampMicrosecond('UTC'), true),
  new Field('place', new FixedSizeList(2, new Field('item', new Float32(), true)), true),
  new Field('in', new Struct([new Field('order', new Int64(), true), new Field(odd, new Utf8(), true)]), true),
]);

const prices = [1.5, Number.NaN, null, -0, 7, 3, 2, Infinity, 5];
const rows = oddValues.map((text, index) => ({
  id: BigInt(index),
  [odd]: text,
  price: prices[index],
  at: index % 4 === 3 ? null : new Date(Number(times[index % 3]! / 1000n)),
  place: [index / 10, 0.1],
  in: index === 4 ? null : { order: BigInt((index * 4) % 9), [odd]: text },
}));

const place = {
  namespacePath: ['shop', 'eu'],
  name: 'or-ders.all',
  allColumns: ['id', odd, 'price', 'at', 'place', 'in'],
};

const near = { column: 'place', vector: [Math.fround(0.31), Math.fround(0.1)], k: 3 };

/** Views, the ids of their rows, and those that pyarrow finds if it sorts, because it puts NaN beside null. */
const views: readonly [name: string, view: ViewOfTable, ids: readonly number[], byPyarrow?: readonly number[]][] = [
  ['the whole table', place, [0, 1, 2, 3, 4, 5, 6, 7, 8, 100]],
  ['an earlier version', { ...place, version: 1 }, [0, 1, 2, 3, 4, 5, 6, 7, 8]],
  ...oddValues.map((text, id): [string, ViewOfTable, number[]] => [
    `the row of ${JSON.stringify(text)}`,
    { ...place, where: `\`${odd}\` = ${quotedText(text)} -- \${1}` },
    [id],
  ]),
  [
    'sorted rows of some columns, nulls first',
    { ...place, version: 1, columns: ['id', odd], orderBy: [{ column: 'price', nullsFirst: true }], limit: 5 },
    [2, 3, 0, 6, 5],
    [2, 1, 3, 0, 6],
  ],
  [
    'two columns to sort by',
    {
      ...place,
      version: 1,
      where: 'price < 1e9',
      orderBy: [{ column: 'at', descending: true }, { column: 'id' }],
    },
    [4, 0, 5, 6, 8, 3],
  ],
  ['the nearest rows', { ...place, version: 1, nearest: { ...near, distanceType: 'l2' } }, [3, 4, 2]],
  [
    'the nearest rows of a filter, without an index',
    {
      ...place,
      where: `id <> 4 AND \`${odd}\` <> '\${1}' AND \`${odd}\` <> 'it''s'`,
      nearest: { ...near, distanceType: 'l2', useIndex: false },
      orderBy: [{ column: '_distance' }],
    },
    [3, 2, 5],
  ],
  ['the first of the nearest rows', { ...place, nearest: { ...near, distanceType: 'dot' }, limit: 2 }, [8, 7]],
  [
    'exact times',
    { ...place, where: `at = ${typedLiteral(schema.fields[3]!.type, new Date(951_827_696_123), 'at')}`, version: 1 },
    [1, 4],
  ],
  ['a range', { ...place, where: '(price BETWEEN 0 AND 7 AND NOT isnan(price))' }, [0, 3, 4, 5, 6, 8]],
  [
    'times as text',
    {
      ...place,
      where: `at >= arrow_cast('2000-02-29T12:34:56Z', 'Timestamp(Microsecond, Some("UTC"))') AND at < timestamp '2000-03-01 00:00:00Z'`,
    },
    [1, 4],
  ],
  [
    'parts of text',
    {
      ...place,
      where: `contains(lower(\`${odd}\`), 'it') OR starts_with(\`${odd}\`, '{') OR ends_with(lower(\`${odd}\`), lower('DROP'))`,
    },
    [0, 1, 2, 7],
  ],
  [
    'the order of a nested field',
    { ...place, version: 1, orderBy: [{ column: 'in.order' }] },
    [0, 7, 5, 3, 1, 8, 6, 2, 4],
  ],
  [
    'a nested field with an odd name among the columns, in the condition and the order',
    {
      ...place,
      version: 1,
      columns: ['id', fieldPathText(['in', odd])],
      where: `${quotedFieldPath(['in', odd])} > 'a' AND ${quotedFieldPath(['in', 'order'])} < 8`,
      orderBy: [{ column: fieldPathText(['in', odd]), descending: true }],
    },
    [5, 7, 1, 3],
  ],
  [
    'casts, bytes and functions',
    {
      ...place,
      where: `id = arrow_cast(-1, 'Int32') OR arrow_cast('6.00', 'Decimal128(38, 2)') = id OR (regexp_like(\`${odd}\`, '^%') AND X'01' IS NOT NULL)`,
    },
    [6, 8],
  ],
];

async function fill(db: Catalog): Promise<void> {
  await db.createNamespace(['shop']);
  await db.createNamespace(['shop', 'eu']);
  const table = await db.createTable(place.name, rows, { namespacePath: place.namespacePath, schema });
  await table.add([{ id: 100n, [odd]: null, price: null, at: null, place: null, in: null }]);
}

const isSorted = ({ orderBy, nearest }: ViewOfTable): boolean => orderBy !== undefined || nearest !== undefined;
const inOrder = (ids: readonly number[], view: ViewOfTable): readonly number[] =>
  isSorted(view) ? ids : ids.toSorted((a, b) => a - b);

const refused = (error: unknown) => isCatalogError(error, 'Unsupported');

suite('The code of a view', function () {
  this.timeout(120_000);
  const root = tempFolder();
  let server: ServeProcess;

  suiteSetup(async () => {
    const db = await openDir({ root });
    await fill(db);
    await db.close();
    server = await startServe(['--root', root, '--keys', writeKeys([['all', fullKey, 'read-only', '*']])]);
  });
  suiteTeardown(() => server.stop());

  const kernel = kernelOfSuite(() => startKernel({ catalog: { implementation: 'dir', root } }));

  async function printedIds(view: ViewOfTable, ...cells: string[]): Promise<readonly number[]> {
    let text = '';
    for (const cell of cells) {
      const { outputs } = await run(kernel(), cell);
      assert.equal(errorOf(outputs)?.evalue, undefined, cell);
      text = printed(outputs);
    }
    return inOrder(JSON.parse(text) as number[], view);
  }

  const dir: PythonCatalog = { kind: 'dir', root };

  for (const [name, view, ids] of views) {
    test(`finds ${name} as TypeScript`, async () => {
      const code = viewCode('typescript', view, dir);
      const [open, ...query] = code.split('\n');
      const read = `${open}\nconsole.log(JSON.stringify((await (${query.join('\n')}).toArray()).map(({ id }) => id)));`;
      assert.deepEqual(await printedIds(view, code, read), ids);
    });

    test(`finds ${name} as SQL`, async () => {
      const cell = `%%sql --to found\n${viewCode('sql', view, dir)}`;
      const read = 'console.log(JSON.stringify([...found.getChild("id")].map(Number)));';
      assert.deepEqual(await printedIds(view, cell, read), ids);
    });
  }

  test('finds the same rows as Python, in a directory and on a server', async () => {
    const rest: PythonCatalog = {
      kind: 'rest',
      uri: server.address,
      headers: { 'x-team': 'it\'s "data"' },
      secretHeaders: { 'x-api-key': 'LANCE_CATALOG_API_KEY' },
    };
    const programs = views.flatMap(([, view]) => [viewCode('python', view, dir), viewCode('python', view, rest)]);
    const all = programs.map((code) => `${code}\nprint(json.dumps(rows.column("id").to_pylist()))`);
    const { stdout } = await runFile(python(), ['-c', `import json\n${all.join('\n')}`], {
      env: { ...process.env, LANCE_CATALOG_API_KEY: fullKey },
      timeout: 100_000,
    });
    const found = stdout.trim().split('\n');
    for (const [index, [name, view, ids, byPyarrow = ids]] of views.entries()) {
      assert.deepEqual(inOrder(JSON.parse(found[2 * index]!) as number[], view), ids, name);
      assert.deepEqual(inOrder(JSON.parse(found[2 * index + 1]!) as number[], view), byPyarrow, `${name}, on a server`);
    }
  });

  test('of sorted nearest rows is SQL or Python, and refused as TypeScript', async () => {
    const nearest = { ...near, distanceType: 'l2' as const };
    const view: ViewOfTable = { ...place, version: 1, nearest, orderBy: [{ column: 'id', descending: true }] };
    assert.throws(
      () => viewCode('typescript', view, dir),
      (error) => isCatalogError(error, 'Unsupported') && /order of their distance/.test(error.message),
    );
    const cell = `%%sql --to sorted\n${viewCode('sql', view, dir)}`;
    const read = 'console.log(JSON.stringify([...sorted.getChild("id")].map(Number)));';
    assert.deepEqual(await printedIds(view, cell, read), [4, 3, 2]);
    const code = `${viewCode('python', view, dir)}\nprint(rows.column("id").to_pylist())`;
    const { stdout } = await runFile(python(), ['-c', code], { timeout: 60_000 });
    assert.deepEqual(JSON.parse(stdout), [4, 3, 2]);
    const several: ViewOfTable = {
      ...place,
      nearest: {
        ...near,
        vector: [
          [1, 2],
          [3, 4],
        ],
      },
    };
    assert.throws(() => viewCode('sql', several, dir), /several vectors/);
  });

  test('is refused as SQL if a name would be a value of the notebook', () => {
    const name = 'a${process.exit()}';
    assert.throws(() => viewCode('sql', { ...place, columns: [name] }, dir), refused);
    assert.throws(() => viewCode('sql', { ...place, where: `\`${name}\` = 1` }, dir), refused);
    assert.throws(() => viewCode('sql', { ...place, where: "at = arrow_cast(1, 'Duration(Second)')" }, dir), refused);
  });
});
