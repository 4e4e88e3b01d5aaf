import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { LanguageProcess } from '#processes/languageProcess.ts';
import { inRoot } from '../../../scripts/paths.ts';
import { tempFolder } from '../../harness/temp.ts';
import { OpenNotebook } from '../openNotebook.ts';
import { node } from '../support.ts';

const strict = {
  strict: true,
  noPropertyAccessFromIndexSignature: true,
  noUncheckedIndexedAccess: true,
  exactOptionalPropertyTypes: true,
};

/** Type of a table with a 64-bit column `id`. */
const users = 'import type { Table } from "lance-catalog";\ndeclare const users: Table<User, { id: bigint }>;';
const user = 'type User = { id: number; name: string | null; vector: Float32Array };';

/** Declares a function to compare types: the call `same<A, B>()` has a type error unless A and B are the same type. */
const same =
  'declare function same<A, B>(...differs: (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? [] : [A, B]): void;';

suite('The types of rows', function () {
  this.timeout(60_000);
  const folder = tempFolder();
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions: strict }));
  const books = new Map<string, OpenNotebook>();
  let worker: LanguageProcess;
  suiteSetup(async () => {
    worker = await LanguageProcess.start({
      entry: inRoot('dist/languageWorker.cjs'),
      node,
      onFindings: (notebook, cell, findings) => books.get(notebook)?.findings.set(cell, findings),
    });
  });
  suiteTeardown(() => worker.dispose());

  async function messages(...cells: string[]): Promise<string[]> {
    const book = new OpenNotebook(`book${books.size}`, folder, () => worker);
    books.set(book.name, book);
    book.set(...cells);
    await book.errors();
    return [...book.findings.values()]
      .flat()
      .flatMap(({ severity, message }) => (severity === 'hint' ? [] : [message]));
  }

  test('are any value by any column name if the columns are not known, also in a strict folder', async () => {
    const found = await messages(
      `const table = await db.openTable('users');
       const rows = await table.query().select(['id', 'name']).toArray();
       rows[0].id.toFixed(); rows[0].name.first; rows.map((row) => row.anything + 1);
       const [first] = await table.search([1]).withRowId().toArray();
       table.vectorSearch(first.embedding).addQueryVector(first.embedding);
       const [text] = await sql\`select 1\`.toArray(); text.one.toFixed();
       for (const { id } of await table.takeOffsets([0]).select({ id: 'id' }).toArray({ int64: 'bigint' })) id.toFixed();`,
    );
    assert.deepEqual(found, []);
  });

  test('are those of the table', async () => {
    const found = await messages(
      `${user}\n${users}\n${same}`,
      `const all = await users.query().toArray();
       same<(typeof all)[number], User>();
       const [row] = await users.query().where('id > 1').limit(1).toArray();
       row?.name?.toUpperCase();
       row!.wrong;`,
    );
    assert.deepEqual(found, ["Property 'wrong' does not exist on type 'User'."]);
  });

  test('have the selected columns, and any value of those that SQL computes', async () => {
    const found = await messages(
      `${user}\n${users}\n${same}`,
      `const named = await users.query().select(['id', 'name']).toArray();
       same<(typeof named)[number], { id: number; name: string | null }>();
       const one = await users.query().select('name').toArray();
       same<(typeof one)[number], { name: string | null }>();
       const computed = await users.query().select({ key: 'id', twice: 'id * 2' }).toArray();
       same<(typeof computed)[number], { key: number; twice: any }>();
       const pairs = await users.query().select([['key', 'id'], ['twice', 'id * 2']]).toArray();
       same<(typeof pairs)[number], { key: number; twice: any }>();
       const map = await users.query().select(new Map([['key', 'id']])).toArray();
       same<(typeof map)[number], any>();
       const names: string[] = ['id'];
       const unknown = await users.query().select(names).toArray();
       same<(typeof unknown)[number], any>();
       const other = await users.query().select(['id', 'lower(name)']).toArray();
       same<(typeof other)[number], { id: number; 'lower(name)': any }>();`,
    );
    assert.deepEqual(found, []);
  });

  test('have the columns that searches and row ids add, whatever is selected', async () => {
    const found = await messages(
      `${user}\n${users}\n${same}`,
      `const near = await users.vectorSearch([1]).select(['id']).toArray();
       same<(typeof near)[number], { id: number; _distance: number; query_index: any }>();
       const words = await users.query().select(['id']).filter('id > 1').nearestToText('red').toArray();
       same<(typeof words)[number], { id: number; _score: number }>();
       const search = await users.search('red').select({ key: 'id' }).toArray();
       same<(typeof search)[number], { key: number; _score: number }>();
       const both = await users.query().nearestTo([1]).fullTextSearch('red').rerank().select('id').toArray();
       type Both = { id: number; _distance: number | null; _score: number | null; _relevance_score: number; query_index: any };
       same<(typeof both)[number], Both>();
       const numbered = await users.takeRowIds([1]).withRowId().select(['name']).toArray();
       same<(typeof numbered)[number], { name: string | null; _rowid: number }>();`,
    );
    assert.deepEqual(found, []);
  });

  test('have bigints on request', async () => {
    const found = await messages(
      `${user}\n${users}\n${same}`,
      `const [row] = await users.query().select(['id', 'name']).toArray({ int64: 'bigint' });
       same<typeof row, { id: bigint; name: string | null } | undefined>();
       const [plain] = await users.query().select(['id']).toArray({ int64: 'number', timeoutMs: 5 });
       same<typeof plain, { id: number } | undefined>();
       const [renamed] = await users.query().select({ key: 'id', name: 'name' }).withRowId().toArray({ int64: 'bigint' });
       same<typeof renamed, { key: bigint; name: string | null; _rowid: bigint } | undefined>();
       const int64 = 'number' as 'number' | 'bigint';
       const [either] = await users.query().select('id').toArray({ int64 });
       same<typeof either, { id: number } | { id: bigint } | undefined>();`,
    );
    assert.deepEqual(found, []);
  });

  test('of a table can be passed on as those of any table', async () => {
    const found = await messages(
      `${user}\n${users}\nimport type { Query } from 'lance-catalog';`,
      `const any: Table = users;
       const query: Query = users.vectorSearch([1]).select(['id']);
       const again: Table<User> = any;
       function count(table: Table): Promise<number> { return table.countRows(); }
       await count(users);`,
    );
    assert.deepEqual(found, []);
  });
});
