import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { Dictionary, Field, Int32, Schema, Table as ArrowTable, Utf8, vectorFromArray } from '#arrow';
import type { Table } from '#catalog/table/table.ts';
import { readFunction } from '#jobs/definition/functionSource.ts';
import { withHash } from '#jobs/definition/hash.ts';
import { decodeOutput, encodeOutput } from '#jobs/definition/outputType.ts';
import {
  columnOf,
  computedColumns,
  markValues,
  registerFunction,
  storedFunction,
} from '#jobs/definition/registration.ts';
import { typeText } from '#shared/arrow/arrowTypes.ts';
import { isCatalogError } from '#shared/errors.ts';
import type { ComputedFunction } from '#shared/jobs/computedFunction.ts';
import { isJobError } from '#shared/jobs/jobErrors.ts';
import { forEachSubject } from '../subjects.ts';

const signal = AbortSignal.timeout(300_000);
const rows = [
  { id: 1, text: 'mug' },
  { id: 2, text: 'lamp' },
];

const lengthOf = (code: string, source = code): ComputedFunction =>
  withHash({
    kind: 'typescript',
    name: 'text_length',
    version: '1',
    inputs: ['text'],
    output: encodeOutput('size', new Int32()),
    onError: { mode: 'retry', attempts: 2 },
    takes: 'row',
    code,
    source,
  });
const first = lengthOf('export default (row) => row.text.length;');
const second = lengthOf('export default (row) => row.text.length + 1;');

const sql = (table: Table, expression: string): Promise<ComputedFunction> =>
  readFunction({ kind: 'sql', expression }, { folder: '.', table, column: 'size' }, signal);

const told = (promise: Promise<unknown>): Promise<string> =>
  promise.then(
    () => 'nothing',
    (error: unknown) => (isJobError(error) ? `${error.kind}: ${error.message}` : String(error)),
  );

forEachSubject('functions of columns', (makeCatalog, subject) => {
  if (subject.id === 'upstream') {
    test('are refused by a server that keeps nothing of columns, which has the columns that it had', async () => {
      const { db } = await makeCatalog();
      const table = await db.createTable('t', rows);
      const registering = registerFunction(table, 'size', first, { signal });
      await assert.rejects(registering, (error) => {
        assert.ok(isCatalogError(error, 'Unsupported'), String(error));
        assert.match(error.message, /Pass the function with each backfill instead/);
        return true;
      });
      assert.deepEqual((await table.schema()).names, ['id', 'text']);
    });
    return;
  }

  for (const [what, column, said] of [
    ['an empty name', '', /^RequestInvalid: The name of the column to compute is empty\./],
    ['a blank name', '  ', /^RequestInvalid: The name of the column to compute is empty\./],
    ['a dot in its name', 'size.cm', /^RequestInvalid: .*"size\.cm".*"size_cm"/],
  ] as const)
    test(`are not kept on a new column with ${what}`, async () => {
      const { db } = await makeCatalog();
      const table = await db.createTable('t', rows);
      assert.match(await told(registerFunction(table, column, first, { signal })), said);
      assert.deepEqual((await table.schema()).names, ['id', 'text']);
    });

  test('name of a wide table a few columns, where one is asked for that is not there', async () => {
    const { db } = await makeCatalog();
    const wide = Object.fromEntries(Array.from({ length: 40 }, (_, index) => [`c${index}`, index]));
    const table = await db.createTable('t', [wide]);
    assert.match(await told(registerFunction(table, 'size', first, { signal })), /c19 and 20 more\.$/);
  });

  test('are kept on a new column, which is null and of their type', async () => {
    const { db } = await makeCatalog();
    const table = await db.createTable('t', rows);
    await registerFunction(table, 'size', first, { author: 'Ada', signal });
    const [column] = await computedColumns(table, signal);
    assert.deepEqual(
      [column?.type, column?.author, column?.rows, column?.filled, column?.isStale, column?.keptBy],
      ['int32', 'Ada', 2, 0, false, 'table'],
    );
    const again = await db.openTable('t');
    const stored = await storedFunction(again, 'size', signal);
    assert.deepEqual({ ...stored?.function, output: '' }, { ...first, output: '' });
    assert.equal(await again.countRows('size IS NULL'), 2);
  });

  test('that are SQL know their type and columns from the table', async () => {
    const { db } = await makeCatalog();
    const table = await db.createTable('t', rows);
    const fn = await sql(table, 'length(text) + 1');
    assert.deepEqual(fn.inputs, ['text']);
    await registerFunction(table, 'size', fn, { signal });
    const stored = (await storedFunction(table, 'size', signal))?.function;
    assert.equal(stored?.kind === 'sql' && stored.expression, 'length(text) + 1');
    const [column] = await computedColumns(table, signal);
    assert.equal(column?.type, 'int64');
  });

  test('that are SQL are taken though the first row has a value that they fail for', async () => {
    const { db } = await makeCatalog();
    const table = await db.createTable('t', rows);
    for (const expression of ['cast(10 / (id - 1) as int)', 'cast(text as int)'])
      assert.equal(typeText(decodeOutput((await sql(table, expression)).output).type), 'int32');
  });

  for (const [what, expression, said] of [
    ['a name with a blank', 'length(my col)', /has the column "my col" without backticks\. Write it as `my col`\.$/],
    [
      'a name in double quotes',
      'length("My Col")',
      /contains "my col" in double quotes\. .* Write `my col` in backticks/,
    ],
    ['a text in double quotes', '"colour"', /names no column of the table\. .*backticks/],
    ['no column', "'red'", /names no column of the table\. .*backticks/],
    ['a comment at its end', 'length(`my col`) -- letters', /ends with a comment, but must be a single expression/],
    ['two expressions', 'id, text', /can't be computed by the engine for a single row/],
    ['something behind it', 'id other', /is not a single SQL expression\. .*backticks/],
  ] as const)
    test(`that are SQL with ${what} are refused in words`, async () => {
      const { db } = await makeCatalog();
      const table = await db.createTable('t', [{ id: 1, text: 'mug', 'my col': 'red' }]);
      assert.match(await told(sql(table, expression)), said);
      assert.deepEqual((await sql(table, 'length(`my col`)')).inputs, ['my col']);
    });

  test('that are SQL and give a dictionary are refused with a cast', async () => {
    const { db } = await makeCatalog();
    const type = new Dictionary(new Utf8(), new Int32());
    const table = await db.createTable('t', new ArrowTable({ kind: vectorFromArray(['mug'], type) }));
    assert.match(
      await told(sql(table, 'kind')),
      /returns dictionary<.*>, which a computed column can't have\. Cast it/,
    );
    assert.deepEqual((await sql(table, 'cast(kind as string)')).inputs, ['kind']);
  });

  test('that are SQL which the engine refuses are refused with its reason', async () => {
    const { db } = await makeCatalog();
    const table = await db.createTable('t', rows);
    await assert.rejects(sql(table, 'length(colour)'), (error) => isJobError(error) && /colour/.test(error.message));
  });

  test('are replaced, and values of the one before are stale', async () => {
    const { db } = await makeCatalog();
    const table = await db.createTable('t', rows);
    await registerFunction(table, 'size', first, { signal });
    await table.update({ where: 'id = 1', valuesSql: { size: 'cast(3 as int)' } });
    await registerFunction(table, 'size', second, { signal });
    const [column] = await computedColumns(table, signal);
    assert.deepEqual([column?.function.hash, column?.filled, column?.isStale], [second.hash, 1, true]);
    await markValues(table, await columnOf(table, 'size', signal), second.hash, signal);
    const [now] = await computedColumns(table, signal);
    assert.deepEqual([now?.valuesHash, now?.isStale], [second.hash, false]);
    assert.deepEqual(now?.complete, { rows: 2, empty: 1 });
    const version = await table.version();
    await markValues(table, await columnOf(table, 'size', signal), second.hash, signal);
    assert.equal(await table.version(), version, 'the same record is not written again');
  });

  test('stay where rows are added, and where the table is put together again', async () => {
    const { db } = await makeCatalog();
    const table = await db.createTable('t', rows);
    await registerFunction(table, 'size', first, { signal });
    await table.add([{ id: 3, text: 'cup', size: null }], {});
    await table.update({ where: 'id = 3', values: { text: 'cups' } });
    assert.equal((await storedFunction(table, 'size', signal))?.function.hash, first.hash);
  });

  test('that do not fit the table change nothing of it', async () => {
    const { db } = await makeCatalog();
    const table = await db.createTable('t', rows);
    const otherInput = withHash({ ...first, inputs: ['body'] });
    assert.match(
      await told(registerFunction(table, 'size', otherInput, { signal })),
      /^ColumnMissing: .*"body".*id, text/,
    );
    assert.match(
      await told(registerFunction(table, 'text', second, { signal })),
      /^FunctionInvalid: .*reads the column/,
    );
    assert.match(await told(registerFunction(table, 'id', second, { signal })), /^FunctionInvalid: .*"id" is double/);
    const large = lengthOf(`export default () => 1; // ${randomBytes(400_000).toString('hex')}`);
    assert.match(
      await told(registerFunction(table, 'size', large, { signal })),
      /^FunctionInvalid: .*KiB of code, more than the 256 KiB/,
    );
    assert.deepEqual([(await table.schema()).names, await table.version()], [['id', 'text'], 1]);
  });

  test('whose code was changed on the table do not count as registered', async () => {
    const { db } = await makeCatalog();
    const table = await db.createTable('t', rows);
    await registerFunction(table, 'size', first, { signal });
    const other = await db.createTable('other', rows);
    await registerFunction(other, 'size', second, { signal });
    const key = 'lance-catalog.function.code';
    const code = (await other.schema()).fields.at(-1)?.metadata.get(key) ?? '';
    await table.updateFieldMetadata([{ path: 'size', metadata: { [key]: code } }]);
    await assert.rejects(storedFunction(table, 'size', signal), /has changed since it was registered/);
    assert.deepEqual(await computedColumns(table, signal), []);
  });

  test('are listed with those of other columns', async () => {
    const { db } = await makeCatalog();
    const fields = [new Field('text', new Utf8(), true)];
    const table = await db.createTable('t', [{ text: 'a' }], { schema: new Schema(fields) });
    await registerFunction(table, 'size', first, { signal });
    await registerFunction(table, 'more', second, { signal });
    const listed = await computedColumns(table, signal);
    assert.deepEqual(
      listed.map(({ column }) => column),
      ['size', 'more'],
    );
  });
});
