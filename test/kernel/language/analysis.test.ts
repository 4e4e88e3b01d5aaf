import assert from 'node:assert/strict';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { LanguageProcess } from '#processes/languageProcess.ts';
import { inRoot } from '../../../scripts/paths.ts';
import { isRunning } from '../../harness/running.ts';
import { tempFolder } from '../../harness/temp.ts';
import { OpenNotebook } from '../openNotebook.ts';
import { node, until } from '../support.ts';

const entry = inRoot('dist/languageWorker.cjs');

suite('the language worker', function () {
  this.timeout(60_000);
  let worker: LanguageProcess;
  let book: OpenNotebook;
  const books = new Map<string, OpenNotebook>();

  function open(name: string, folder = tempFolder()): OpenNotebook {
    const opened = new OpenNotebook(name, folder, () => worker);
    books.set(name, opened);
    return opened;
  }

  suiteSetup(async () => {
    worker = await LanguageProcess.start({
      entry,
      node,
      onFindings: (notebook, cell, findings) => books.get(notebook)?.findings.set(cell, findings),
    });
    book = open('book');
  });
  suiteTeardown(() => worker.dispose());

  test("knows the client in place of LanceDB's package", async () => {
    const opened = open('lancedb');
    opened.set(
      'import * as lancedb from "@lancedb/lancedb";\nconst opened: lancedb.Connection = await lancedb.connect("memory://");',
      'const found = await (await opened.openTable("items")).search([1, 2]).distanceType("l2").toArray();',
    );
    assert.deepEqual(await opened.errors(), []);
  });

  test('has nothing against cells that share names, declare them again and await', async () => {
    book.set(
      'import { join } from "node:path";\nconst title = "a";',
      'const title = 1;\nclass Row { a = title }',
      'class Row { b = "" }\nnew Row().b.trim();\ntitle.toFixed();',
      'const page = await db.listTables();\nfor await (const name of page.tables) name.trim();',
      'export const shared = join("a", "b");\ninterface Shape { side: number }',
      'const shape: Shape = { side: shared.length };',
      '%cd ..\n%time await db.listTables()',
      '%%sql\nselect 1',
      'db = await connect(".");',
      'const view = <T,>(value: T) => value;\nview(1).toFixed();',
      'enum Color { Red }\nfunction paint(color: Color): Color { return color }',
      'paint(Color.Red);\nusing held = { [Symbol.dispose]() {} };',
    );
    assert.deepEqual(await book.errors(), []);
  });

  test('finds every true error, in the cell that has it', async () => {
    book.set(
      'const count = 1;\nconst wrong: string = 3;',
      'const count = "two";\ncount.toFixed();',
      'nope.foo();',
      'db.nope();',
      'return 1;',
      'const = 3;',
      'await missing();',
    );
    assert.deepEqual(await book.errors(), [
      '0 TS2322 wrong',
      '1 TS2551 toFixed',
      '2 TS2304 nope',
      '3 TS2339 nope',
      '4 TS1108 return',
      '5 TS1134 =',
      '5 TS1134 3',
      '6 TS2304 missing',
    ]);
  });

  test('calls no name unused that a later cell may use, and one that none can', async () => {
    book.set('import { join } from "node:path";\nconst free = 1;\nfunction f() { const inner = 1; }');
    await book.errors();
    assert.deepEqual(
      book.findings.get(book.id(0))?.map(({ tag, message }) => [tag, message]),
      [['unnecessary', "'inner' is declared but its value is never read."]],
    );
  });

  test('checks an edited cell and those after it again', async () => {
    book.set('const a = 1;', 'const b = a;', 'b.toFixed();');
    assert.deepEqual(await book.errors(), []);
    book.edit(1, 'const b = "text";');
    await until(
      'the error below',
      () => book.codes(2)?.includes(2339) === true || book.codes(2)?.includes(2551) === true,
    );
    book.edit(1, 'const b = a + 1;');
    await until('its end', () => book.codes(2)?.length === 0);
  });

  test('knows a cell where it was moved to', async () => {
    book.set('const a = 1;', 'a.toFixed();');
    assert.deepEqual(await book.errors(), []);
    book.turn();
    await until('the error', () => book.codes(0)?.includes(2304) === true);
    book.turn();
    await until('its end', () => book.codes(1)?.length === 0);
  });

  test('completes with kinds, and tells type and documentation of one', async () => {
    book.set('/** Adds one. */\nfunction more(n: number) { return n + 1 }', 'mo', 'db.');
    const { items } = await worker.request('complete', book.at(1, 'mo'));
    const found = items.find(({ name }) => name === 'more');
    assert.equal(found?.kind, 'function');
    const far = items.find(({ name }) => name === 'Map');
    assert.ok(found.sortText < (far?.sortText ?? ''), 'names of the notebook come before the globals');
    assert.deepEqual(await worker.request('describe', { ...book.at(1, 'mo'), name: 'more' }), {
      code: 'function more(n: number): number',
      documentation: 'Adds one.',
    });
    const members = await worker.request('complete', book.at(2, 'db.'));
    assert.ok(members.items.some(({ name, kind }) => name === 'openTable' && kind === 'method'));
    const described = await worker.request('describe', { ...book.at(2, 'db.'), name: 'openTable' });
    assert.match(described?.code ?? '', /Catalog\.openTable\(name: string/);
    assert.match(described?.documentation ?? '', /Opens a table to read and write/);
  });

  test('knows the magics of a line', async () => {
    book.set('%ti', '%time 1');
    const { items } = await worker.request('complete', book.at(0, '%ti'));
    assert.deepEqual(items.map(({ name }) => name).toSorted(), ['%%time', '%%timeit', '%time', '%timeit']);
    const hover = await worker.request('hover', book.at(1, '%ti'));
    assert.match(hover?.documentation ?? '', /%time/);
  });

  test('knows the result of %%sql in other cells, also before it runs', async () => {
    book.set('%%sql --to top\nselect 1', 'top.numRows.toFixed()', 'top.wrong');
    assert.deepEqual(await book.errors(), ['2 TS2339 wrong']);
  });

  test('says which tables a column of %%sql may be of', async () => {
    book.set('%%sql\nselect  from shop.products p');
    const { naming, items } = await worker.request('complete', book.at(0, 'select '));
    const table = { catalog: 'db', name: 'products', namespacePath: ['shop'] };
    assert.deepEqual(naming?.what, { kind: 'sqlColumn', catalog: 'db', tables: [table] });
    const kinds = new Set(items.map(({ kind }) => kind));
    assert.deepEqual([...kinds], ['alias', 'function', 'keyword']);
    // TypeScript would describe a word of SQL that is also one of its names.
    assert.equal(await worker.request('describe', { ...book.at(0, 'select '), name: 'console' }), null);
  });

  test('completes the values of a query as TypeScript, and reports nothing in them', async () => {
    book.set('const few = [1];', '%%sql\nselect ${few.inc} from shop.products where id = ${unknown}');
    const { items, naming, isSql } = await worker.request('complete', book.at(1, 'few.inc'));
    assert.ok(items.some(({ name }) => name === 'includes'));
    assert.deepEqual([naming, isSql], [null, undefined]);
    assert.deepEqual(await book.errors(), []);
  });

  test('says which table a variable of another cell is of', async () => {
    book.set(
      "const events = await db.openTable('events', { namespacePath: ['a'] });",
      'const query = events.query().limit(3);',
      "query.where('",
    );
    const { naming } = await worker.request('complete', book.at(2, "where('"));
    assert.deepEqual(naming?.what, {
      kind: 'column',
      table: { catalog: 'db', name: 'events', namespacePath: ['a'] },
      isSql: true,
    });
  });

  test('answers hover, parameters and definition over cells', async () => {
    book.set('/** Says it. */\nconst say = (what: string, often = 1) => what.repeat(often);', 'say("a", ');
    const hover = await worker.request('hover', book.at(1, 'say'));
    assert.deepEqual(
      [hover?.code, hover?.documentation],
      ['const say: (what: string, often?: number) => string', 'Says it.'],
    );
    const signature = await worker.request('signature', { ...book.at(1, ', '), isRetrigger: false, trigger: ',' });
    assert.equal(signature?.signatures[0]?.label, 'say(what: string, often?: number): string');
    assert.equal(signature.activeParameter, 1);
    const definition = await worker.request('definition', book.at(1, 'sa'));
    assert.deepEqual(definition?.targets, [{ cell: book.id(0), span: { start: 22, end: 25 } }]);
  });

  test('goes from `db` to what it is', async () => {
    book.set('db');
    const [target] = (await worker.request('definition', book.at(0, 'db')))?.targets ?? [];
    assert.ok(target && 'file' in target);
    assert.match(target.file, /catalog\.d\.ts$/);
  });

  test('reads the files of the folder, and reads them again when they change', async () => {
    const folder = tempFolder();
    const other = open('files', folder);
    const file = join(folder, 'helper.ts');
    other.set("import { help } from './helper.ts';\nhelp().toFixed();");
    assert.deepEqual(await other.errors(), ["0 TS2307 './helper.ts'"]);
    writeFileSync(file, 'export const help = () => 1;\n');
    worker.tell('filesChanged', null);
    await until('the file to be found', () => other.codes(0)?.length === 0);
    writeFileSync(file, 'export const help = () => "one";\n');
    worker.tell('filesChanged', null);
    await until('its change', () => (other.codes(0)?.length ?? 0) > 0);
    worker.tell('close', { notebook: 'files' });
  });

  test('respects the tsconfig.json of the folder', async () => {
    const folder = tempFolder();
    mkdirSync(join(folder, 'sub'));
    writeFileSync(join(folder, 'tsconfig.json'), '{ "compilerOptions": { "strict": true } }');
    const strict = open('strict', join(folder, 'sub'));
    strict.set('let text: string = null;');
    assert.deepEqual(await strict.errors(), ['0 TS2322 text']);
    worker.tell('close', { notebook: 'strict' });
    rmSync(folder, { recursive: true });
  });

  test('keeps notebooks apart', async () => {
    const other = open('other', book.folder);
    book.set('const mine = 1;');
    other.set('mine');
    assert.deepEqual(await other.errors(), ['0 TS2304 mine']);
    worker.tell('close', { notebook: 'other' });
    const { items } = await worker.request('complete', { notebook: 'other', cell: other.id(0), offset: 0 });
    assert.deepEqual(items, []);
  });

  test('answers what it does not know with nothing, and what is malformed with the reason', async () => {
    assert.equal(await worker.request('hover', { notebook: 'book', cell: 'none', offset: 3 }), null);
    assert.ok(await worker.request('complete', { ...book.at(0, ''), offset: 1e9 }));
    const malformed = { ...book.at(0, ''), offset: -1 };
    await assert.rejects(worker.request('hover', malformed), /"hover" to .* has invalid parameters/);
  });

  test('drops requests that are no longer needed', async () => {
    book.set('D');
    const gone = new AbortController();
    const asked = worker.request('complete', book.at(0, 'D'), gone.signal);
    gone.abort();
    await assert.rejects(asked, { name: 'AbortError' });
    assert.ok((await worker.request('complete', book.at(0, 'D'))).items.length > 0);
  });

  test('ends with its client', async () => {
    const second = await LanguageProcess.start({ entry, node, onFindings: () => {} });
    const { pid } = second;
    assert.ok(pid !== undefined);
    second.closePipe();
    await until('the end of the worker', () => !isRunning(pid));
  });

  test('that does not start says why, with the next step', async () => {
    await assert.rejects(
      LanguageProcess.start({ entry: join(tempFolder(), 'none.cjs'), node, onFindings: () => {} }),
      (error: Error & { hint?: string }) =>
        /language worker did not start: exit code 1/.test(error.message) && /nodePath/.test(error.hint ?? ''),
    );
  });
});
