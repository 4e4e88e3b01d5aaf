import assert from 'node:assert/strict';
import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api';
import { type RecordBatch, Table as ArrowTable } from '#arrow';
import type { Catalog } from '#catalog/catalog.ts';
import { quotedText } from '#shared/sqlTokens.ts';
import type { Table } from '#catalog/table/table.ts';
import { openDir } from '#engine/dir/dirCatalog.ts';
import type { Parameter } from '#sql/messages.ts';
import { findPushdowns } from '#sql/pushdown.ts';
import { openSqlEngine } from '#sql/sqlEngine.ts';
import { arrowTable, type SqlTable } from '#sql/sqlTable.ts';
import { readTree, type TreeNode } from '#sql/syntaxTree.ts';
import { Random } from '../../../contract/model/random.ts';
import { tempFolder } from '../../../harness/temp.ts';
import { columnKinds, makeTable } from './columnKinds.ts';
import {
  type ConditionQuery,
  joinColumns,
  joinQuery,
  queryParameters,
  queryText,
  smallerQueries,
  tableQuery,
} from './conditionQueries.ts';
import { columnsNamed, type Condition, parametersOf, randomCondition, smaller, textOf } from './randomConditions.ts';

// Compares what queries find if tables apply conditions with what DuckDB finds without. Most conditions are compared in
// two steps, because that takes a millisecond for each: the engine decides many conditions in one query, and the table
// must send at least these rows for the filter of each condition. Others are whole queries.

/** The seed of a failure, to run it again. */
const seedVariable = 'SQL_CONDITIONS_SEED';
const seed = Number(process.env[seedVariable] ?? 1);

const indexed = ['i8', 'f64', 't', 'yes', 'd', 'us', 'i64', 'f32', 'u64', 'i32', 'ms', 'usz', 'u8', 'u32'];
/** Columns whose conditions tables apply. They are in more of the conditions than others. */
const applied = ['i8', 'i16', 'i32', 'i64', 'u8', 'u16', 'u32', 'u64', 'f32', 'f64', 't', 'large', 'yes'];

const engine = openSqlEngine();
let parser: DuckDBConnection;

/** Runs a query. @param tableOf the table for each name */
async function ask(text: string, parameters: Parameter[], tableOf: (name: string) => SqlTable): Promise<ArrowTable> {
  const tables = { find: async ({ name }: { name: string }) => tableOf(name) };
  const { signal } = new AbortController();
  const { schema, batches } = await engine.query({ text, parameters, tables }, signal);
  const all: RecordBatch[] = [];
  for await (const batch of batches) all.push(batch);
  return new ArrowTable(schema, all);
}

/** Calls `run` with all items, or with fewer at a time if one of them fails; undefined for each that fails alone. */
async function eachOf<T, R>(
  items: readonly T[],
  run: (items: readonly T[]) => Promise<R[]>,
): Promise<(R | undefined)[]> {
  try {
    return await run(items);
  } catch {
    if (items.length === 1) return [undefined];
    const middle = items.length >> 1;
    return [...(await eachOf(items.slice(0, middle), run)), ...(await eachOf(items.slice(middle), run))];
  }
}

/** Returns the ids of the rows for which each condition is true, by the engine alone. */
async function idsByEngine(conditions: readonly Condition[], rows: SqlTable): Promise<number[][]> {
  const columns = conditions.map((condition) => `(${textOf(condition)})`);
  const found = await ask(`select id, ${columns.join(', ')} from t`, conditions.flatMap(parametersOf), () => rows);
  const ids = [...(found.getChildAt(0) as Iterable<number>)];
  return conditions.map((_, index) => {
    const values = [...(found.getChildAt(index + 1) as Iterable<boolean | null>)];
    return ids.filter((__, row) => values[row] === true);
  });
}

/** Returns the filter that a table gets for each condition; undefined for none. */
async function filtersOf(conditions: readonly Condition[], rows: SqlTable): Promise<(string | undefined)[]> {
  const text = conditions.map((each, n) => `select id from t${n} where ${textOf(each)}`).join(' union all ');
  const argument = `${quotedText(text)}::VARCHAR, skip_null := true, skip_empty := true`;
  const [row] = (await parser.runAndReadAll(`SELECT json_serialize_sql(${argument})`)).getRows();
  const tree = readTree(String(row?.[0]));
  // Each name is a separate table, because the references to one table share what they leave out.
  const tables = new Map<TreeNode, SqlTable>(tree.references.map(({ node, name }) => [node, { ...rows, name }]));
  const found = findPushdowns(tree, conditions.flatMap(parametersOf), (node) => tables.get(node));
  const filters = new Map([...found].map(([{ name }, { filter }]) => [name, filter]));
  return conditions.map((_, n) => filters.get(`t${n}`));
}

type Difference = { condition: Condition; filter: string; problem: string };

/** Returns a condition whose filter leaves out rows that the engine would find, or that the table rejects. */
async function compareFilters(
  conditions: readonly Condition[],
  { table, rows, change = (filter) => filter }: Compared,
  counts: Counts,
): Promise<Difference | undefined> {
  const expected = await eachOf(conditions, (some) => idsByEngine(some, rows));
  const usable = conditions.filter((_, index) => expected[index]);
  counts.failed += conditions.length - usable.length;
  const wanted = expected.filter((ids) => ids !== undefined);
  const filters = await filtersOf(usable, rows);
  const problems = await Promise.all(
    filters.map(async (filter, index): Promise<string | undefined> => {
      if (filter === undefined) return undefined;
      try {
        const found = await table.query().select(['id']).where(change(filter)).toArrow();
        const ids = new Set(found.getChildAt(0) as Iterable<number>);
        const missing = wanted[index]!.filter((id) => !ids.has(id));
        return missing.length > 0 ? `rows that the table left out: ${missing.join(' ')}` : undefined;
      } catch (error) {
        return String(error);
      }
    }),
  );
  counts.filters += filters.filter((filter) => filter !== undefined).length;
  const first = problems.findIndex((problem) => problem !== undefined);
  return first < 0 ? undefined : { condition: usable[first]!, filter: filters[first]!, problem: problems[first]! };
}

/** A table, and the same rows in memory. `change` makes a filter wrong. */
type Compared = { table: Table; rows: SqlTable; change?: (filter: string) => string };
type Counts = { failed: number; filters: number };

async function shrinkCondition(difference: Difference, compared: Compared): Promise<Difference> {
  for (const candidate of smaller(difference.condition)) {
    const found = await compareFilters([candidate], compared, { failed: 0, filters: 0 });
    if (found) return shrinkCondition(found, compared);
  }
  return difference;
}

const shownParameters = (parameters: readonly Parameter[]): string =>
  parameters.map((each) => ('value' in each ? String(each.value) : each.type)).join(', ');
const again = `Run it again with ${seedVariable}=${seed}.`;

/** @throws AssertionError with the smallest condition that shows the first difference */
async function checkFilters(count: number, names: readonly string[], compared: Compared): Promise<void> {
  const random = new Random(seed + count);
  const columns = columnsNamed(names);
  const counts: Counts = { failed: 0, filters: 0 };
  const batchSize = 100;
  for (let done = 0; done < count; done += batchSize) {
    const conditions = Array.from({ length: batchSize }, () => randomCondition(random, columns));
    const difference = await compareFilters(conditions, compared, counts);
    if (!difference) continue;
    const { condition, filter, problem } = await shrinkCondition(difference, compared);
    assert.fail(
      `${textOf(condition)}\nvalues: ${shownParameters(parametersOf(condition))}\n${filter}\n${problem}\n${again}`,
    );
  }
  // Conditions that compare values of two types may be errors, and some are not passed on.
  assert.ok(counts.failed < count / 20, `${counts.failed} of ${count} conditions were errors`);
  assert.ok(counts.filters > count / 4, `only ${counts.filters} of ${count} conditions became filters`);
}

/** Returns a table of a query whose scans have filters, and fail if the table rejects one. */
async function filtered(table: Table): Promise<SqlTable> {
  return {
    name: 't',
    schema: await table.schema(),
    rows: await table.countRows(),
    async *scan({ columns, filter, limit }, signal) {
      let query = table.query().select([...columns]);
      if (filter !== undefined) query = query.where(filter);
      if (limit !== undefined) query = query.limit(limit);
      yield* (await query.execute({ signal })).batches;
    },
  };
}

type Sides = Readonly<Record<'a' | 'b', SqlTable>>;

/** Returns the rows that each query finds, sorted; the queries run as one. */
async function rowsOf(queries: readonly ConditionQuery[], sides: Sides): Promise<string[]> {
  const text = queries.map((query, n) => `select ${n} as n, r from (${queryText(query, n)})`).join('\nunion all ');
  const found = await ask(text, queries.flatMap(queryParameters), (name) => ({ ...sides[name[0] as keyof Sides] }));
  const rows = queries.map((): string[] => []);
  for (const row of found) rows[Number(row['n'])]!.push(String(row['r']));
  return rows.map((each) => each.toSorted().join(' '));
}

/** A wrong rule: the engine takes NaN for the largest number. */
const withoutNaN = (filter: string): string => filter.replaceAll(/ OR isnan\(`\w+`\)/g, '');

/** Returns the first query that finds other rows if the tables apply conditions. */
async function compareQueries(
  queries: readonly ConditionQuery[],
  pushed: Sides,
  plain: Sides,
): Promise<ConditionQuery | undefined> {
  const expected = await eachOf(queries, (some) => rowsOf(some, plain));
  // A query that fails without filters may succeed with them, because a row that fails may be left out.
  const usable = queries.filter((_, index) => expected[index] !== undefined);
  const wanted = expected.filter((rows) => rows !== undefined);
  const found = await eachOf(usable, (some) => rowsOf(some, pushed));
  return usable.find((_, index) => found[index] !== wanted[index]);
}

async function shrinkQuery(query: ConditionQuery, pushed: Sides, plain: Sides): Promise<ConditionQuery> {
  for (const candidate of smallerQueries(query))
    if (await compareQueries([candidate], pushed, plain)) return shrinkQuery(candidate, pushed, plain);
  return query;
}

suite('Random conditions find the rows that DuckDB finds', function () {
  this.timeout(300_000);
  let db: Catalog;

  suiteSetup(async () => {
    db = await openDir({ root: tempFolder() });
    parser = await (await DuckDBInstance.create(':memory:')).connect();
  });
  suiteTeardown(async () => {
    parser?.closeSync();
    await db?.close();
  });

  /** Creates a table of several fragments with deleted rows. */
  async function createTable(name: string, columns: readonly string[], rows: number): Promise<Compared> {
    const made = makeTable(new Random(seed), columns, rows);
    const third = Math.ceil(rows / 3);
    const table = await db.createTable(name, made.slice(0, third));
    for (const start of [third, 2 * third]) await table.add(made.slice(start, start + third));
    await table.delete('id % 17 = 3');
    return { table, rows: arrowTable(name, await table.query().toArrow()) };
  }

  test('over columns of all types (8,000)', async () => {
    const names = Object.keys(columnKinds);
    await checkFilters(8000, [...names, ...applied, ...applied, ...applied], await createTable('all', names, 240));
  });

  test('over columns with an index (2,000)', async () => {
    const { table } = await createTable('indexed', indexed, 240);
    for (const column of indexed) await table.createIndex(column, { type: 'BTREE' });
    // Rows that no index has.
    const { schema, batches } = makeTable(new Random(seed + 1), indexed, 40);
    await table.add(new ArrowTable(schema, batches));
    await table.update({ where: 'id >= 0 AND id < 40', valuesSql: { id: 'id + 0' } });
    await checkFilters(2000, indexed, { table, rows: arrowTable('indexed', await table.query().toArrow()) });
  });

  test('in whole queries: joins, subqueries and common table expressions (400)', async () => {
    const a = await createTable('a', joinColumns.a, 40);
    const b = await createTable('b', joinColumns.b, 30);
    const pushed = { a: await filtered(a.table), b: await filtered(b.table) };
    const plain = { a: a.rows, b: b.rows };
    const random = new Random(seed);
    const ofTable = columnsNamed(joinColumns.a);
    for (let batch = 0; batch < 8; batch++) {
      const queries = Array.from({ length: 50 }, (_, index) =>
        index % 10 === 0 ? tableQuery(random, ofTable) : joinQuery(random),
      );
      const different = await compareQueries(queries, pushed, plain);
      if (!different) continue;
      const smallest = await shrinkQuery(different, pushed, plain);
      const [expected, found] = [await rowsOf([smallest], plain), await rowsOf([smallest], pushed).catch(String)];
      const given = shownParameters(queryParameters(smallest));
      assert.fail(
        `${queryText(smallest)}\nvalues: ${given}\nfound: ${String(found)}\nexpected: ${String(expected)}\n${again}`,
      );
    }
  });

  test('would find a wrong rule, and name a small condition', async () => {
    const names = ['f64', 'i8', 't'];
    const wrong = { ...(await createTable('wrong', names, 120)), change: withoutNaN };
    await assert.rejects(
      checkFilters(400, names, wrong),
      /^AssertionError.*: (?:f64 \S+ \S+|\S+ \S+ f64|f64 between \S+ and \S+)\n/,
    );
  });
});
