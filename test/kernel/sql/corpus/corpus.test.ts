import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { text as readText } from 'node:stream/consumers';
import { join } from 'node:path';
import { type DataType, type RecordBatch, Table, tableFromIPC, tableToIPC } from '#arrow';
import type { Catalog } from '#catalog/catalog.ts';
import { openDir } from '#engine/dir/dirCatalog.ts';
import { typeText } from '#shared/arrow/arrowTypes.ts';
import { messageOf } from '#shared/errors.ts';
import { runStatement } from '#sql/runStatement.ts';
import { openSqlEngine } from '#sql/sqlEngine.ts';
import { arrowTable } from '#sql/sqlTable.ts';
import { trackProcessGroup } from '../../../../scripts/processes.ts';
import { duckdbPackageEnv } from '../../../harness/needs/duckdbPackage.ts';
import { python } from '../../../harness/needs/python.ts';
import { tempFolder } from '../../../harness/temp.ts';
import { rowTexts } from './arrowRows.ts';
import { corpusTables } from './corpusTables.ts';

// Compares results of queries with those of DuckDB's Python package over the same rows in Parquet files: columns, types
// and values. Rows are compared in their order if the query has one.

type CorpusQuery = { name: string; text: string };

/** Reads the queries of a file: a comment with the name, then the query. */
function readQueries(file: string): CorpusQuery[] {
  const source = readFileSync(join(import.meta.dirname, file), 'utf8');
  return [...source.matchAll(/^-- (.+)\n([^]+?);$/gm)].map(([, name = '', text = '']) => ({ name, text }));
}

const files = readdirSync(import.meta.dirname)
  .filter((name) => name.endsWith('.sql'))
  .toSorted();
const queriesOf = new Map(files.map((file) => [file, readQueries(file)]));
const queries = [...queriesOf.values()].flat();

/** Types of columns that differ on purpose from those of DuckDB, with the reason. */
const otherTypes: readonly { why: string; isExpected: (found: string, theirs: string, column: string) => boolean }[] = [
  {
    why: 'a column of 128-bit integers, as a sum of integers, has 64 bits if all its values fit',
    isExpected: (found, theirs) => found === 'int64' && theirs === 'decimal128(38, 0)',
  },
  {
    why: 'a column of a table keeps its type there, such as milliseconds and a zone, which DuckDB does not have',
    isExpected: (found, _, column) => tableTypes.has(`${column} ${found}`),
  },
  {
    why: 'the fields of row(1, 2) are 1 and 2, because rows of JavaScript need different names',
    isExpected: (found, theirs) => found.replaceAll(/\b\d+: /g, ': ') === theirs,
  },
  {
    why: 'an enumeration is text, as its values are',
    isExpected: (found, theirs) => found === 'utf8' && theirs === 'dictionary<uint8, utf8>',
  },
];

const tableTypes: ReadonlySet<string> = new Set(
  corpusTables.flatMap(({ table }) =>
    table.schema.fields.map(({ name, type }) => `${name} ${typeText(type as DataType)}`),
  ),
);

/** Queries whose results differ on purpose, with what they have instead. */
const differences: Readonly<Record<string, { why: string; columns: readonly string[]; rows?: readonly string[] }>> = {
  'a union type': {
    why: 'a union is the text that DuckDB shows, because tables have no unions',
    columns: ['u utf8', 't utf8'],
    rows: ['"2" | "str"'],
  },
  'uuid and bits': {
    why: 'bits are the text that DuckDB shows, and not its own bytes for them',
    columns: ['u utf8', 'b utf8', 'n int64'],
    rows: ['"550e8400-e29b-41d4-a716-446655440000" | "101" | 2'],
  },
  'columns of one name': {
    why: 'columns have different names, because rows of JavaScript need them',
    columns: ['id int32', 'id_2 int32', 'id_3 int32'],
  },
};

/** Whether the rows of a query have an order. */
const isOrdered = (text: string): boolean => /\border by\b[^()]*(?:\([^()]*\)[^()]*)*$/i.test(text);

async function runByDuckDb(folder: string): Promise<(string | null)[]> {
  const tables = corpusTables.map(({ namespace, name, table }) => {
    const file = join(folder, `${name}.table`);
    writeFileSync(file, tableToIPC(table, 'stream'));
    return { schema: namespace, name, file };
  });
  const child = spawn(python(), [join(import.meta.dirname, 'duckdbCorpus.py')], {
    env: { ...process.env, ...duckdbPackageEnv },
    stdio: ['pipe', 'pipe', 'inherit'],
    detached: true,
  });
  trackProcessGroup(child);
  child.stdin.end(JSON.stringify({ folder, tables, queries: queries.map(({ text }) => text) }));
  const [output] = await Promise.all([readText(child.stdout), once(child, 'close')]);
  return JSON.parse(output) as (string | null)[];
}

async function createCatalog(): Promise<Catalog> {
  const catalog = await openDir({ root: tempFolder() });
  await catalog.createNamespace(['shop']);
  await catalog.createNamespace(['shop', 'eu']);
  for (const { namespace, name, table } of corpusTables)
    if (name !== 'nested') {
      const namespacePath = namespace === '' ? [] : namespace.split('/');
      await catalog.createTable(name, table, { namespacePath });
    }
  return catalog;
}

const typesOf = (table: Table): string[] => table.schema.fields.map(({ type }) => typeText(type as DataType));

suite('The SQL corpus has the results of DuckDB over Parquet', function () {
  this.timeout(60_000);
  const engine = openSqlEngine();
  const folder = tempFolder();
  let catalog: Catalog;
  let errors: Promise<(string | null)[]>;

  suiteSetup(async () => {
    errors = runByDuckDb(folder);
    catalog = await createCatalog();
  });
  suiteTeardown(() => catalog?.close());

  async function run(text: string): Promise<Table> {
    const nested = corpusTables.find(({ name }) => name === 'nested')!.table;
    const findValue = (name: string) => (name === 'nested' ? arrowTable(name, nested) : undefined);
    const { schema, batches } = await runStatement(engine, { text, catalog, findValue }, new AbortController().signal);
    const all: RecordBatch[] = [];
    for await (const batch of batches) all.push(batch);
    return new Table(schema, all);
  }

  test(`has at least 150 queries with different names (${queries.length})`, () => {
    assert.ok(queries.length >= 150);
    assert.equal(new Set(queries.map(({ name }) => name)).size, queries.length);
    for (const name of Object.keys(differences))
      assert.ok(
        queries.some((query) => query.name === name),
        name,
      );
  });

  for (const [file, ofFile] of queriesOf)
    for (const { name, text } of ofFile)
      test(`${file}: ${name}`, async () => {
        const index = queries.findIndex((query) => query.name === name);
        assert.equal((await errors)[index], null, text);
        const expected = tableFromIPC(readFileSync(join(folder, `${index}.arrow`)));
        const found = await run(text).catch((error: unknown) => assert.fail(`${text}\n${messageOf(error)}`));
        const difference = differences[name];
        const columns = found.schema.fields.map((field) => field.name);
        const [types, theirs] = [typesOf(found), typesOf(expected)];
        const isKnown = (place: number): boolean =>
          otherTypes.some(({ isExpected }) => isExpected(types[place]!, theirs[place]!, columns[place]!));
        assert.deepEqual(
          columns.map((column, place) => `${column} ${types[place]}`),
          difference?.columns ??
            expected.schema.fields.map(
              (field, place) => `${field.name} ${isKnown(place) ? types[place] : theirs[place]}`,
            ),
          text,
        );
        const sorted = (rows: readonly string[]): readonly string[] => (isOrdered(text) ? rows : rows.toSorted());
        assert.deepEqual(sorted(rowTexts(found)), sorted(difference?.rows ?? rowTexts(expected)), text);
      });
});
