import { Field, Int64, RecordBatch, Schema, Table, vectorFromArray } from '#arrow';
import { emptyBatch } from '#shared/arrow/nullData.ts';
import { CatalogError, isCatalogError } from '#shared/errors.ts';
import { catalogTables, type CatalogTablesOptions, findTablePlace, newTablePlace } from './catalogTables.ts';
import type { SqlEngine, SqlQuery, SqlResult } from './sqlEngine.ts';
import type { SqlTable, SqlTables } from './sqlTable.ts';
import { readStatement, type Write, writtenName } from './statement.ts';

export type SqlStatement = CatalogTablesOptions &
  Omit<SqlQuery, 'tables'> & {
    /** Returns a table that is in no catalog, by its name in the text. */
    findValue?: ((name: string) => SqlTable | undefined) | undefined;
  };

/**
 * Runs a query, `create table … as select …` or `insert into … select …` over the tables of a catalog. A statement that
 * writes is whole or has no effect; its result is the number of rows written.
 * @throws CatalogError InvalidInput (13) for other statements and if the engine rejects the query; the errors of tables
 */
export async function runStatement(
  engine: SqlEngine,
  statement: SqlStatement,
  signal: AbortSignal,
): Promise<SqlResult> {
  const { query: text, write } = readStatement(statement.text, statement.caller);
  const inCatalogs = catalogTables(statement);
  const tables: SqlTables = {
    ...inCatalogs,
    find: async (name, findSignal) => statement.findValue?.(name.name) ?? inCatalogs.find(name, findSignal),
  };
  const result = await engine.query({ ...statement, text, tables }, signal);
  if (!write) return result;
  try {
    return countResult(await writeRows(statement, write, result, signal));
  } finally {
    // The rows were not read if the table already exists or has other columns.
    await result.batches[Symbol.asyncIterator]().return?.();
  }
}

async function writeRows(
  options: CatalogTablesOptions,
  write: Write,
  { schema, batches }: SqlResult,
  signal: AbortSignal,
): Promise<number> {
  let rows = 0;
  if (write.kind === 'create') {
    const { catalog, namespacePath, name } = await newTablePlace(options, write.name, signal);
    const { mode } = write;
    try {
      await catalog.createTable(name, counted(batches, schema), { namespacePath, mode, schema, signal });
    } catch (error) {
      throw isCatalogError(error, 'TableAlreadyExists') ? exists(error) : error;
    }
    return rows;
  }
  const { catalog, namespacePath, name } = await findTablePlace(options, write.name, signal);
  const table = await catalog.openTable(name, { namespacePath, signal });
  const { names } = await table.schema({ signal });
  const renamed = renamedSchema(schema, write, names.map(String), writtenName(write.name));
  await table.add(counted(batches, renamed), { signal });
  return rows;

  async function* counted(source: AsyncIterable<RecordBatch>, named: Schema): AsyncGenerator<RecordBatch> {
    let isEmpty = true;
    for await (const batch of source) {
      isEmpty = false;
      rows += batch.numRows;
      yield new RecordBatch(named, batch.data);
    }
    // A table learns from a batch which columns there are, also if there are no rows.
    if (isEmpty) yield emptyBatch(named);
  }
}

const exists = (error: CatalogError): CatalogError =>
  new CatalogError(
    'TableAlreadyExists',
    error.what,
    'Write create or replace table … as select …, or insert into … select ….',
    { cause: error },
  ).about(error);

/** Returns the columns of the rows to insert with the names that they have in the table. */
function renamedSchema(schema: Schema, write: Write, names: readonly string[], table: string): Schema {
  const { columns, isByName } = write.kind === 'insert' ? write : { columns: undefined, isByName: true };
  if (isByName) return schema;
  const targets = (columns ?? names).map((column) => names.find((name) => isSameName(name, column)) ?? column);
  if (targets.length === schema.fields.length)
    return new Schema(schema.fields.map(({ type, nullable }, index) => new Field(targets[index]!, type, nullable)));
  throw new CatalogError(
    'InvalidInput',
    `The query has ${schema.fields.length} columns, and ${columns ? 'the list of columns' : table} has ${targets.length}.`,
    `Name the columns: insert into ${table} (${names.slice(0, 2).join(', ')}) select ….`,
  );
}

const isSameName = (one: string, other: string): boolean => one.toLowerCase() === other.toLowerCase();

function countResult(rows: number): SqlResult {
  const table = new Table({ rows: vectorFromArray([BigInt(rows)], new Int64()) });
  async function* batches(): AsyncGenerator<RecordBatch> {
    yield* table.batches;
  }
  return { schema: table.schema, batches: batches() };
}
