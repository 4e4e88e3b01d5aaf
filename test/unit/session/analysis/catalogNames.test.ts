import assert from 'node:assert/strict';
import ts from 'typescript-6';
import { namingAt } from '#session/analysis/catalogNames.ts';
import { tableSourceBy } from '#session/analysis/tableSource.ts';
import type { Naming } from '#shared/catalogConfig.ts';

/** Returns a checker that sees one file and no library. */
function checkerOf(source: ts.SourceFile): ts.TypeChecker {
  const options = { noLib: true, types: [] };
  const host: ts.CompilerHost = {
    ...ts.createCompilerHost(options),
    getSourceFile: (name) => (name === source.fileName ? source : undefined),
  };
  return ts.createProgram([source.fileName], options, host).getTypeChecker();
}

/** Returns the name at `|` in code, and the text that a chosen name replaces. */
function naming(marked: string): (Pick<Naming, 'what'> & { replaced: string }) | undefined {
  const offset = marked.indexOf('|');
  const code = marked.replace('|', '');
  const source = ts.createSourceFile('cell.ts', code, ts.ScriptTarget.Latest, true);
  const found = namingAt(source, offset, (expression) => tableSourceBy(checkerOf(source), expression));
  return found && { what: found.what, replaced: code.slice(found.start, found.end) };
}

const table = (namespacePath: string[] = [], catalog = 'db') => ({ kind: 'table', catalog, namespacePath });
const anyTable = (isClosed = true, catalog = 'db') => ({ kind: 'anyTable', catalog, isClosed });
const child = (...parent: string[]) => ({ kind: 'child', catalog: 'db', parent });
const namespace = (...parent: string[]) => ({ kind: 'namespace', catalog: 'db', parent });
const events = { catalog: 'db', name: 'events', namespacePath: [] as string[] };
const column = (isSql = false, of: object = events) => ({ kind: 'column', table: of, isSql });
const opened = "const t = await db.openTable('events');\n";

const cases: readonly (readonly [code: string, what: object | undefined, replaced?: string])[] = [
  ["db.openTable('|", anyTable(false), ''],
  ["await db.openTable('ev|ents')", anyTable(), "events'"],
  ['db.dropTable("|")', anyTable(), '"'],
  ['db.describeTable(`|`)', anyTable(), '`'],
  ["other.openTable('|')", anyTable(true, 'other'), "'"],
  ["db.openTable('|', { version: 3 })", table(), ''],
  ["db.renameTable('|')", table(), ''],
  ["db.copy(['shop', '|'], { path: ['b'] })", child('shop'), ''],
  ["db.copy('|')", undefined],
  ["db.openTable('|', { namespacePath: ['shop', 'eu'] })", table(['shop', 'eu']), ''],
  ["db.openTable('|', ['shop'])", table(['shop']), ''],
  ["db.openTable('|', { namespacePath: where })", undefined],
  ["db.createTable('|', rows)", undefined],
  ["db.openTable('events', { namespacePath: ['|'] })", namespace(), ''],
  ["db.openTable('events', { namespacePath: ['shop', 'e|u'] })", namespace('shop'), 'eu'],
  ["db.createTable('new', rows, { namespacePath: ['|'] })", namespace(), ''],
  ["db.listTables(['shop', '|'])", namespace('shop'), ''],
  ["db.listTables([shop, '|'])", undefined],
  [`${opened}t.query().where('|')`, column(true), ''],
  [`${opened}t.query().where('price > 3 AND na|`, column(true), 'na'],
  [`${opened}t.query().where("name = 'na|'")`, undefined],
  [`${opened}t.query().where('price > 3|')`, undefined],
  [`${opened}t.query().where('\\u0060a b|\\u0060 > 3')`.replaceAll('\\u0060', '`'), column(true), '`a b`'],
  [`${opened}t.query().limit(3).select(['id', '|'])`, column(), ''],
  [`${opened}t.query().select('|')`, column(), ''],
  [`${opened}t.query().select({ twice: 'pri| * 2' })`, column(true), 'pri'],
  [`${opened}const q = t.query();\nq.orderBy([{ column: '|' }])`, column(), ''],
  [`${opened}t.vectorSearch([1], { column: '|' })`, column(), ''],
  [`${opened}t.fullTextSearch('x', { columns: ['|'] })`, column(), ''],
  [`${opened}t.update({ where: '|', values: {} })`, column(true), ''],
  [`${opened}t.countRows('|')`, column(true), ''],
  [`${opened}t.createIndex('|')`, column(), ''],
  ["(await db.openTable('events')).query().where('|')", column(true), ''],
  ["t.query().where('|')", column(true, { variable: 't' }), ''],
  ["[1].map(String).join('|')", undefined],
  ["console.log('|')", undefined],
  ["db.openTable('events'|)", undefined],
  ["const s = '|'", undefined],
];

suite('what a string in code names', () => {
  for (const [code, what, replaced] of cases) {
    test(`${what ? 'is found' : 'is left alone'} in ${JSON.stringify(code.replace(opened, ''))}`, () => {
      const found = naming(code);
      assert.deepEqual(found?.what, what);
      assert.equal(found?.replaced, replaced);
    });
  }

  test('ends for variables that are made of each other', () => {
    assert.doesNotThrow(() => naming("const a = b;\nconst b = a;\na.where('|')"));
  });
});
