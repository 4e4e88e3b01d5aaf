import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as arrow from '#arrow';
import { columnTypes } from '#catalog/arrow/columnTypes.ts';
import { LanguageProcess } from '#processes/languageProcess.ts';
import type { TablePath, TypedTable } from '#shared/protocol/languageMessages.ts';
import { inRoot } from '../../../scripts/paths.ts';
import { tempFolder } from '../../harness/temp.ts';
import { OpenNotebook } from '../openNotebook.ts';
import { node, until } from '../support.ts';

const item = (type: arrow.DataType, nullable = false) => new arrow.Field('item', type, nullable);

const users = new arrow.Schema([
  new arrow.Field('id', new arrow.Int64(), false),
  new arrow.Field('name', new arrow.Utf8(), true),
  new arrow.Field('vector', new arrow.FixedSizeList(4, item(new arrow.Float32(), true)), false),
]);

/** Names that would end a string, a comment or a type if they were not written as literals. */
const oddNames = [
  '__proto__',
  `it's "x"\n\\`,
  '*/ }; let x: string = 1 /*',
  '\u2028',
  'two words',
  '',
  '`${1}`',
  'class',
];

const tableOf = (schema: arrow.Schema, name: string, ...namespacePath: string[]): TypedTable => {
  const columns = columnTypes(schema);
  assert.ok(columns);
  return { name, namespacePath, columns };
};

function strictFolder(): string {
  const folder = tempFolder();
  writeFileSync(join(folder, 'tsconfig.json'), '{ "compilerOptions": { "strict": true } }');
  return folder;
}

suite('The types of the rows of tables that cells open', function () {
  this.timeout(60_000);
  const books = new Map<string, OpenNotebook>();
  const opened = new Map<string, TablePath[]>();
  let worker: LanguageProcess;
  suiteSetup(async () => {
    worker = await LanguageProcess.start({
      entry: inRoot('dist/languageWorker.cjs'),
      node,
      onFindings: (notebook, cell, findings) => books.get(notebook)?.findings.set(cell, findings),
      onTables: (notebook, tables) => opened.set(notebook, tables),
    });
  });
  suiteTeardown(() => worker.dispose());

  function open(folder: string, ...cells: string[]): OpenNotebook {
    const book = new OpenNotebook(`book${books.size}`, folder, () => worker);
    books.set(book.name, book);
    book.set(...cells);
    return book;
  }

  async function hover(book: OpenNotebook, cell: number, text: string): Promise<string | undefined> {
    return (await worker.request('hover', book.at(cell, text)))?.code;
  }

  /** Sends the types of tables, and waits until the hover at a position is as expected. */
  async function send(book: OpenNotebook, tables: TypedTable[], cell: number, text: string, expected: string) {
    worker.tell('tableTypes', { notebook: book.name, tables });
    let found: string | undefined;
    await until('the type', async () => (found = await hover(book, cell, text)) === expected).catch(() => undefined);
    assert.equal(found, expected);
  }

  test('are asked for once, for tables with literal names that cells do not create', async () => {
    const book = open(
      tempFolder(),
      `const a = await db.openTable('users', ['shop']);
       const again = await db.openTable("users", { namespacePath: ['shop'] });
       const root = await db.openTable(\`users\`);
       await db.openTable('made'); await db.openTable('renamed'); const name = 'x'; await db.openTable(name, ['shop']);
       await db.openTable('users', [name]); await other.openTable('theirs');`,
      `await db.createTable('made', [{ id: 1 }]); await db.renameTable('a', 'renamed'); await db.createTable({ name: 'b', data: [] });`,
    );
    await book.errors();
    assert.deepEqual(opened.get(book.name), [
      { name: 'users', namespacePath: ['shop'] },
      { name: 'users', namespacePath: [] },
    ]);
    opened.clear();
    book.edit(1, 'await db.createTable("made", []); await db.renameTable("a", "renamed"); 1 + 1;');
    await new Promise((resolve) => setTimeout(resolve, 500));
    assert.equal(opened.size, 0);
    book.edit(1, 'db = await connect("elsewhere");');
    await until('no tables', () => opened.has(book.name));
    assert.deepEqual(opened.get(book.name), []);
  });

  test('are those of the columns, in hovers, completions and errors', async () => {
    const book = open(
      strictFolder(),
      "const users = await db.openTable('users', ['shop']);",
      'const rows = await users.query().limit(3).toArray();',
      'rows[0].id; rows[0].name;',
      'rows[0].wrong;',
      'rows[0].',
      "const found = await users.vectorSearch(rows[0].vector).select(['name']).toArray();",
      "const other = await (await db.openTable('users')).query().toArray(); const old = await (await db.openTable('users', { namespacePath: ['shop'], version: 3 })).query().toArray();",
      "const bigints = await users.query().select(['id']).toArray({ int64: 'bigint' });",
      "db.openTable('users', ['shop']); db.openTable(",
      'db.',
    );
    assert.deepEqual(await book.errors(), ['4 TS1003 ', '8 TS1005 ', '9 TS1003 ']);
    await send(book, [tableOf(users, 'users', 'shop')], 2, '.id', '(property) id: number');
    assert.equal(await hover(book, 2, '.name'), '(property) name: string | null');
    assert.equal(
      await hover(book, 1, 'rows'),
      'const rows: {\n    id: number;\n    name: string | null;\n    vector: Float32Array;\n}[]',
    );
    assert.equal(
      await hover(book, 5, 'found'),
      'const found: {\n    name: string | null;\n    _distance: number;\n    query_index: any;\n}[]',
    );
    assert.equal(await hover(book, 6, 'other'), 'const other: any[]');
    assert.equal(await hover(book, 6, 'old'), 'const old: any[]');
    assert.equal(await hover(book, 7, 'bigints'), 'const bigints: {\n    id: bigint;\n}[]');
    await until('the error', () => book.codes(3)?.includes(2339) === true);
    assert.deepEqual(await book.errors(), ['3 TS2339 wrong', '4 TS1003 ', '8 TS1005 ', '9 TS1003 ']);
    const { items } = await worker.request('complete', book.at(4, 'rows[0].'));
    assert.deepEqual(
      items.map(({ name }) => name),
      ['id', 'name', 'vector'],
    );
    const described = await worker.request('describe', { ...book.at(4, 'rows[0].'), name: 'id' });
    assert.equal(described?.code, '(property) id: number');
    const db = await worker.request('complete', book.at(9, 'db.'));
    assert.equal(db.items.filter(({ name }) => name === 'openTable').length, 1);
    const opening = await worker.request('describe', { ...book.at(9, 'db.'), name: 'openTable' });
    assert.match(opening?.code ?? '', /^\(method\) openTable\(name: string, /);
    const help = await worker.request('signature', { ...book.at(8, 'openTable('), isRetrigger: false, trigger: '(' });
    assert.deepEqual(
      help?.signatures.map(({ label }) => label.includes('name: string')),
      [true, true],
    );
    const definition = await worker.request('definition', book.at(0, 'db.openT'));
    assert.match(JSON.stringify(definition?.targets), /catalog\/catalog\.d\.ts/);

    const more = new arrow.Schema([...users.fields, new arrow.Field('wrong', new arrow.Bool(), false)]);
    await send(book, [tableOf(more, 'users', 'shop')], 3, '.wrong', '(property) wrong: boolean');
    await until('no error', () => book.codes(3)?.length === 0);
    worker.tell('tableTypes', { notebook: book.name, tables: [] });
    await until('any rows', async () => (await hover(book, 1, 'rows')) === 'const rows: any[]');
  });

  test('have columns of any name', async () => {
    const schema = new arrow.Schema(oddNames.map((name) => new arrow.Field(name, new arrow.Float64(), false)));
    const nested = new arrow.Schema([
      ...schema.fields,
      new arrow.Field('nested', new arrow.Struct(schema.fields), false),
    ]);
    const table = oddNames.join('');
    const book = open(
      strictFolder(),
      `const rows = await (await db.openTable(${JSON.stringify(table)}, [${JSON.stringify(table)}])).query().toArray();`,
      ...oddNames.map(
        (name) => `rows[0][${JSON.stringify(name)}].wrong; rows[0].nested[${JSON.stringify(name)}].wrong;`,
      ),
      'const last = rows.length;',
    );
    await book.errors();
    worker.tell('tableTypes', { notebook: book.name, tables: [tableOf(nested, table, table)] });
    await until('the errors', () => oddNames.every((_, i) => book.codes(i + 1)?.length === 2));
    const errors = await book.errors();
    assert.deepEqual(
      errors,
      oddNames.flatMap((_, i) => [`${i + 1} TS2339 wrong`, `${i + 1} TS2339 wrong`]),
    );
  });

  test('have columns that cells add, and any value in those that cells change', async () => {
    const book = open(
      tempFolder(),
      "const users = await db.openTable('users');",
      "await users.addColumns([{ name: 'score', expression: 'id * 2' }]); await users.alterColumns([{ path: 'name', rename: 'title' }]);",
      'const rows = await users.query().toArray(); rows[0].score.any; rows[0].title.any; rows[0].name.any; rows[0].wrong;',
    );
    await book.errors();
    await send(book, [tableOf(users, 'users')], 2, '.name', '(property) name: any');
    await until('the error', () => book.codes(2)?.length === 1);
    assert.deepEqual(await book.errors(), ['2 TS2339 wrong']);
    book.edit(1, 'const more = [{ name: "score", expression: "id" }]; await users.addColumns(more);');
    await until('any rows', () => book.codes(2)?.length === 0);
  });

  test('are those of one notebook', async () => {
    const folder = tempFolder();
    const cells = ["const rows = await (await db.openTable('users')).query().toArray(); rows[0].wrong;"];
    const [first, second] = [open(folder, ...cells), open(folder, ...cells)];
    await first.errors();
    await second.errors();
    await send(
      first,
      [tableOf(users, 'users')],
      0,
      '.query().toArray(); rows',
      'const rows: {\n    id: number;\n    name: string | null;\n    vector: Float32Array;\n}[]',
    );
    assert.equal(await hover(second, 0, '.query().toArray(); rows'), 'const rows: any[]');
    await until('the error', () => first.codes(0)?.includes(2339) === true);
    assert.deepEqual(await second.errors(), []);
  });
});
