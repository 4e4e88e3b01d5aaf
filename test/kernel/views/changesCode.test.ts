import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { connect } from '@lancedb/lancedb';
import { Field, FixedSizeList, Float32, Float64, Int64, Schema, Struct, Utf8 } from '#arrow';
import type { ChangesOfTables } from '#catalog/view/changesCode.ts';
import { viewCode } from '#catalog/view/viewCode.ts';
import type { PythonCatalog } from '#catalog/view/viewPython.ts';
import { openDir } from '#engine/dir/dirCatalog.ts';
import { isCatalogError } from '#shared/errors.ts';
import { fullKey, type ServeProcess, startServe, writeKeys } from '../../contract/serve/serveProcess.ts';
import { python } from '../../harness/needs/python.ts';
import { tempFolder } from '../../harness/temp.ts';
import { errorOf, kernelOfSuite, printed, run, startKernel } from '../support.ts';

const runFile = promisify(execFile);

// A column whose name each language reads in its own way, and one that has the name of a column of the result.
const odd = 'it\'s "odd" \\ ü';

const schema = new Schema([
  new Field('id', new Int64(), true),
  new Field(odd, new Utf8(), true),
  new Field('change', new Float64(), true),
  new Field('place', new FixedSizeList(2, new Field('item', new Float32(), true)), true),
  new Field('in', new Struct([new Field('order', new Int64(), true)]), true),
]);

const rows = Array.from({ length: 40 }, (_, id) => ({
  id: id === 39 ? null : BigInt(id),
  [odd]: id % 5 === 0 ? null : `row "${id}"`,
  change: id % 7 === 0 ? Number.NaN : id / 4,
  place: id === 3 ? null : [id / 10, 0.1],
  in: id === 4 ? null : { order: BigInt(id) },
}));

const path = ['shop', 'or-ders.all'];
const compared: Omit<ChangesOfTables, 'after'> = {
  namespacePath: ['shop'],
  name: 'or-ders.all',
  before: { path, version: 1 },
  key: ['id'],
  kind: null,
  columns: ['id', odd, 'change', 'place', 'in'],
};

/** What each language finds: the kind of a row, its id, the changed columns, and two of the values before. */
type Found = [kind: string, id: number | null, changed: string[] | null, place: number[] | null, text: string | null];

const all: Found[] = [
  ['changed', 1, ['change'], null, null],
  ['changed', 2, ['place'], [Math.fround(0.2), Math.fround(0.1)], null],
  ['changed', 3, [odd, 'in'], null, 'row "3"'],
  ['removed', 5, null, null, null],
  ['added', 100, null, null, null],
  ['changed', null, [odd], null, 'row "39"'],
];

const print = (table: string): string =>
  `console.log(JSON.stringify(${table}.toArray().map((row) => {
    const { change_: kind, id, changed, place_before: place, ${JSON.stringify(`${odd}_before`)}: text } = row.toJSON();
    return [kind, id === null ? null : Number(id), changed && [...changed], place && [...place], text];
  })))`;

async function printedByPython(code: string): Promise<unknown> {
  const names = ['change_', 'id', 'changed', 'place_before', `${odd}_before`];
  const read = `print(json.dumps(list(zip(*(rows.column(name).to_pylist() for name in ${JSON.stringify(names)})))))`;
  const { stdout } = await runFile(python(), ['-c', `import json\n${code}\n${read}`], {
    env: { ...process.env, LANCE_CATALOG_API_KEY: fullKey },
    timeout: 60_000,
  });
  return JSON.parse(stdout);
}

suite('The code of a comparison', function () {
  this.timeout(120_000);
  const root = tempFolder();
  let server: ServeProcess;
  let view: ChangesOfTables;

  suiteSetup(async () => {
    const db = await openDir({ root });
    await db.createNamespace(['shop']);
    const table = await db.createTable('or-ders.all', rows, { namespacePath: ['shop'], schema });
    await table.delete('id IN (3, 5)');
    await table.update({ where: 'id = 1', values: { change: 9 } });
    await table.update({ where: 'id = 2', values: { place: [7, 0.5] } });
    await table.update({ where: 'id IS NULL', values: { [odd]: null } });
    await table.add([
      { ...rows[3]!, [odd]: 'three', in: { order: 33n } },
      { ...rows[1]!, id: 100n },
    ]);
    view = { ...compared, after: { path, version: await table.version() } };
    await db.close();
    server = await startServe(['--root', root, '--keys', writeKeys([['all', fullKey, 'read-only', '*']])]);
  });
  suiteTeardown(() => server.stop());

  const kernel = kernelOfSuite(() => startKernel({ catalog: { implementation: 'dir', root } }));

  async function printedBy(...cells: string[]): Promise<unknown> {
    let text = '';
    for (const cell of cells) {
      const { outputs } = await run(kernel(), cell);
      assert.equal(errorOf(outputs)?.evalue, undefined, cell);
      text = printed(outputs);
    }
    return JSON.parse(text);
  }

  const dir: PythonCatalog = { kind: 'dir', root };
  const kinds = [null, 'added', 'removed', 'changed'] as const;
  const foundOf = (kind: (typeof kinds)[number]): Found[] => all.filter(([one]) => kind === null || kind === one);

  for (const kind of kinds) {
    test(`finds ${kind ?? 'all'} rows as TypeScript and as SQL`, async () => {
      const code = viewCode('typescript', { ...view, kind }, dir);
      assert.deepEqual(await printedBy(code, print('rows')), foundOf(kind));
      const cell = `%%sql --to found_${kind ?? 'all'}\n${viewCode('sql', { ...view, kind }, dir)}`;
      assert.deepEqual(await printedBy(cell, print(`found_${kind ?? 'all'}`)), foundOf(kind));
    });
  }

  test('finds the same rows as Python, in a directory and on a server', async () => {
    const rest: PythonCatalog = {
      kind: 'rest',
      uri: server.address,
      secretHeaders: { 'x-api-key': 'LANCE_CATALOG_API_KEY' },
    };
    for (const catalog of [dir, rest])
      for (const kind of catalog === dir ? kinds : [null])
        assert.deepEqual(await printedByPython(viewCode('python', { ...view, kind }, catalog)), foundOf(kind));
  });

  test('has the columns of db.compare in each language', async () => {
    const list = 'console.log(JSON.stringify(NAME.schema.fields.map(({ name }) => name)))';
    const expected = await printedBy(viewCode('typescript', view, dir), list.replace('NAME', 'rows'));
    const sql = `%%sql --to found\n${viewCode('sql', { ...view, limit: 1 }, dir)}`;
    assert.deepEqual(await printedBy(sql, list.replace('NAME', 'found')), expected);
    const code = `import json\n${viewCode('python', { ...view, limit: 2 }, dir)}\nprint(json.dumps([rows.column_names, len(rows)]))`;
    const { stdout } = await runFile(python(), ['-c', code], { timeout: 60_000 });
    assert.deepEqual(JSON.parse(stdout), [expected, 2]);
  });

  test('compares by row ids in TypeScript and Python, and is refused as SQL', async () => {
    const native = await connect(root, { storageOptions: { new_table_enable_stable_row_ids: 'true' } });
    const table = await native.createTable(
      'stable',
      Array.from({ length: 9 }, (_, id) => ({ id, name: `row ${id}` })),
    );
    await table.update({ where: 'id = 5', values: { name: 'five' } });
    await table.delete('id = 2');
    const version = await table.version();
    native.close();
    const stable: ChangesOfTables = {
      namespacePath: [],
      name: 'stable',
      before: { path: ['stable'], version: 1 },
      after: { path: ['stable'], version },
      key: null,
      kind: null,
      columns: ['id', 'name'],
    };
    const read = `console.log(JSON.stringify(rows.toArray().map((row) => {
      const { change, _rowid: id, name_before: name } = row.toJSON();
      return [change, Number(id), name];
    })))`;
    const expected = [
      ['removed', 2, null],
      ['changed', 5, 'row 5'],
    ];
    assert.deepEqual(await printedBy(viewCode('typescript', stable, dir), read), expected);
    const columns = 'rows.column(name).to_pylist() for name in ["change", "_rowid", "name_before"]';
    const code = `import json\n${viewCode('python', stable, dir)}\nprint(json.dumps(list(zip(*(${columns})))))`;
    const { stdout } = await runFile(python(), ['-c', code], { timeout: 60_000 });
    assert.deepEqual(JSON.parse(stdout), expected);
    assert.throws(
      () => viewCode('sql', stable, dir),
      (error) =>
        isCatalogError(error, 'Unsupported') && /by their row ids, which SQL does not have/.test(error.message),
    );
  });

  test('is refused as SQL if a name would be a value of the notebook', () => {
    const name = 'a${process.exit()}';
    assert.throws(
      () => viewCode('sql', { ...view, columns: ['id', name] }, dir),
      (error) => isCatalogError(error, 'Unsupported'),
    );
  });
});
