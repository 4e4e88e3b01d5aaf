import {
  type DuckDBConnection,
  DuckDBInstance,
  type DuckDBPreparedStatement,
  type DuckDBResult,
} from '@duckdb/node-api';
import duckdb from '@duckdb/node-bindings';
import { type Data, Field, makeData, RecordBatch, Schema, Struct, Table, tableToIPC } from '#arrow';
import { quotedName, quotedText } from '#shared/sqlTokens.ts';
import type { EngineMethods, TableName } from '#sql/messages.ts';
import { bindParameter } from './bindParameter.ts';
import { type ColumnBuilder, createBuilder, HugeIntBuilder, toInt64 } from './columnBuilder.ts';
import { arrowType } from './engineTypes.ts';
import { forgetSources, registerTableFunctions, rowsColumn, tableFunctionName } from './tableFunctions.ts';

/** Rows and bytes of a batch of a result. The last chunk may exceed them. */
const batchRows = 65_536;
/** Rows of the first batch, which a user waits for; each next one may have four times as many. */
const firstRows = 2048;
const batchBytes = 8 * 1024 * 1024;

/** The name of the database with the views. No query can name it, so it has the name of no namespace. */
const ownDatabase = 'the default catalog';

type Running = {
  statement: DuckDBPreparedStatement;
  result: DuckDBResult;
  builders: readonly ColumnBuilder[];
  names: readonly string[];
  /** Batches that wait until the type of their integers is known; see `HugeIntBuilder`. */
  waiting: RecordBatch[];
  isAtEnd: boolean;
  /** The most rows of the next batch. */
  batchRows: number;
};

/**
 * The engine in this process. It has no access to files, the network or extensions. Its tables are views over table
 * functions, which read from the process that asks. One query runs at a time.
 */
export class EngineDatabase {
  readonly #connection: DuckDBConnection;
  #views: readonly TableName[] = [];
  #running: Running | undefined;
  /** A request that the engine works on; closing waits for its end. */
  #pending: Promise<unknown> = Promise.resolve();
  #isClosing = false;

  private constructor(connection: DuckDBConnection) {
    this.#connection = connection;
  }

  /**
   * @param options.spillFolder where the engine may write data that exceeds the limit
   * @param options.memoryLimit as the engine writes it: `1024MiB`
   */
  static async open(options: { spillFolder: string; memoryLimit: string }): Promise<EngineDatabase> {
    const instance = await DuckDBInstance.create(':memory:', {
      memory_limit: options.memoryLimit,
      temp_directory: options.spillFolder,
      autoinstall_known_extensions: 'false',
      autoload_known_extensions: 'false',
      // The folder above must be set before.
      enable_external_access: 'false',
    });
    const connection = await instance.connect();
    await connection.run("SET TimeZone = 'UTC'");
    // The first database has the name "memory", which could be that of a namespace.
    await connection.run(`ATTACH ':memory:' AS ${quotedName(ownDatabase)}`);
    await connection.run(`USE ${quotedName(ownDatabase)}`);
    await connection.run('DETACH memory');
    // The message of an error becomes JSON with its kind and its position.
    await connection.run('SET errors_as_json = true');
    registerTableFunctions(connection);
    await connection.run('SET lock_configuration = true');
    return new EngineDatabase(connection);
  }

  async parse({ text }: EngineMethods['parse'][0]): Promise<string | null> {
    const argument = `${quotedText(text)}::VARCHAR`;
    const reader = await this.#connection.runAndReadAll(
      `SELECT json_serialize_sql(${argument}, skip_null := true, skip_empty := true)`,
    );
    const [row] = reader.getRows();
    const tree = String(row?.[0]);
    const { error, error_type: kind } = JSON.parse(tree) as { error: boolean; error_type?: string };
    // A statement other than a SELECT has no tree. Errors are reported in the form that failing queries have.
    if (!error) return tree;
    if (kind === 'not implemented') return null;
    throw new Error(parseFailure(tree));
  }

  start(query: EngineMethods['start'][0]): Promise<Uint8Array> {
    return this.#track(this.#start(query));
  }

  /** Returns the next batch; batches of a result with sums of integers come together after the last row was read. */
  next(): Promise<Uint8Array | null> {
    return this.#track(this.#next());
  }

  async close(): Promise<void> {
    this.#isClosing = true;
    this.#connection.interrupt();
    await this.#pending.catch(() => {});
    this.#isClosing = false;
    this.#running?.statement.destroySync();
    this.#running = undefined;
    // There is no transaction if the query did not start.
    await this.#connection.run('ROLLBACK').catch(() => {});
    forgetSources();
    for (const view of this.#views.toReversed()) await this.#dropView(view);
    this.#views = [];
  }

  #track<T>(work: Promise<T>): Promise<T> {
    this.#pending = work;
    return work;
  }

  async #start({ text, parameters, views }: EngineMethods['start'][0]): Promise<Uint8Array> {
    // The engine could not tell a database from a schema with the same name, so company.orders is in the database of
    // company.shop.orders.
    const databases = new Set(views.map(({ catalog }) => catalog.toLowerCase()));
    this.#views = views.map((view) =>
      view.catalog === '' && view.schema !== '' && databases.has(view.schema.toLowerCase())
        ? { ...view, catalog: view.schema, schema: 'main' }
        : view,
    );
    for (const [table, view] of this.#views.entries()) await this.#createView(view, table);
    await this.#connection.run('BEGIN');
    const statement = await this.#connection.prepare(text);
    for (const [index, parameter] of parameters.entries()) bindParameter(statement, index + 1, parameter);
    const result = await statement.stream();
    const handle = Reflect.get(result, 'result') as duckdb.Result;
    const types = Array.from({ length: result.columnCount }, (_, column) => duckdb.column_logical_type(handle, column));
    const builders = types.map((type) => createBuilder(arrowType(type), type));
    const names = uniqueNames(result.columnNames());
    this.#running = { statement, result, builders, names, waiting: [], isAtEnd: false, batchRows: firstRows };
    if (builders.some((builder) => builder instanceof HugeIntBuilder)) await this.#readAll(this.#running);
    const fields = this.#fields(this.#running);
    return tableToIPC(new Table(new Schema(fields)), 'stream');
  }

  async #next(): Promise<Uint8Array | null> {
    const running = this.#running;
    if (!running) return null;
    const batch = running.waiting.shift() ?? (await this.#read(running));
    return batch ? tableToIPC(new Table([batch]), 'stream') : null;
  }

  /** Reads the whole result, then decides for each column of 128-bit integers whether 64 bits are enough. */
  async #readAll(running: Running): Promise<void> {
    const batches: RecordBatch[] = [];
    for (let batch = await this.#read(running); batch; batch = await this.#read(running)) batches.push(batch);
    const fields = this.#fields(running);
    running.waiting = batches.map((batch) => {
      const children = batch.data.children.map((data, index) =>
        isSmall(running.builders[index]!) ? toInt64(data) : data,
      );
      return batchOf(fields, children, batch.numRows);
    });
  }

  async #read(running: Running): Promise<RecordBatch | undefined> {
    const { result, builders } = running;
    const handle = Reflect.get(result, 'result') as duckdb.Result;
    let rows = 0;
    while (!running.isAtEnd && rows < running.batchRows && sizeOf(builders) < batchBytes) {
      const chunk = await duckdb.fetch_chunk(handle);
      const count = chunk ? duckdb.data_chunk_get_size(chunk) : 0;
      if (!chunk || count === 0) {
        running.isAtEnd = true;
        await this.#checkEnd(running);
        break;
      }
      for (const [column, builder] of builders.entries())
        builder.append(duckdb.data_chunk_get_vector(chunk, column), { start: 0, count });
      rows += count;
    }
    running.batchRows = Math.min(running.batchRows * 4, batchRows);
    if (rows === 0) return undefined;
    const fields = running.builders.map(({ type }, index) => new Field(running.names[index]!, type, true));
    return batchOf(
      fields,
      builders.map((builder) => builder.finish()),
      rows,
    );
  }

  /**
   * Fails if a result has ended early. Its last chunk does not show an error, but an error aborts the transaction. The
   * query runs again, not as a stream, because only this gives the error.
   */
  async #checkEnd({ statement }: Running): Promise<void> {
    const isWhole = await this.#connection.run('SELECT 1').then(
      () => true,
      () => false,
    );
    if (isWhole || this.#isClosing) return;
    await this.#connection.run('ROLLBACK');
    await statement.run();
    throw new Error(
      JSON.stringify({ exception_type: 'Invalid Input', exception_message: 'The query failed before its last row' }),
    );
  }

  #fields({ builders, names }: Running): Field[] {
    return builders.map((builder, index) => {
      const type = isSmall(builder) ? arrowType(duckdb.create_logical_type(duckdb.Type.BIGINT)) : builder.type;
      return new Field(names[index]!, type, true);
    });
  }

  async #createView({ catalog, schema, name }: TableName, table: number): Promise<void> {
    if (catalog !== '') await this.#connection.run(`ATTACH IF NOT EXISTS ':memory:' AS ${quotedName(catalog)}`);
    if (schema !== '' && schema !== 'main')
      await this.#connection.run(`CREATE SCHEMA IF NOT EXISTS ${qualified(catalog, schema)}`);
    // Two ways to write a table, such as company.orders and company.main.orders, may have one name in the engine.
    await this.#connection.run(
      `CREATE VIEW IF NOT EXISTS ${qualified(catalog, schema, name)} AS SELECT * EXCLUDE (${rowsColumn}) FROM ${tableFunctionName}(${table})`,
    );
  }

  async #dropView({ catalog, schema, name }: TableName): Promise<void> {
    if (catalog !== '') return void (await this.#connection.run(`DETACH DATABASE IF EXISTS ${quotedName(catalog)}`));
    await this.#connection.run(`DROP VIEW IF EXISTS ${qualified(catalog, schema, name)}`);
    if (schema !== '' && schema !== 'main')
      await this.#connection.run(`DROP SCHEMA IF EXISTS ${qualified(schema)} CASCADE`);
  }
}

const isSmall = (builder: ColumnBuilder): boolean => builder instanceof HugeIntBuilder && builder.isSmall;
const sizeOf = (builders: readonly ColumnBuilder[]): number => builders.reduce((sum, { bytes }) => sum + bytes, 0);

const qualified = (...parts: readonly string[]): string =>
  parts
    .filter((part) => part !== '')
    .map(quotedName)
    .join('.');

const batchOf = (fields: Field[], children: Data[], length: number): RecordBatch =>
  new RecordBatch(
    new Schema(fields),
    makeData({ type: new Struct(fields), length, nullCount: 0, children } as never) as unknown as Data<Struct>,
  );

/** Converts the error of the parser to the JSON that other errors have. */
function parseFailure(tree: string): string {
  const { error_message: message, position } = JSON.parse(tree) as { error_message?: string; position?: string };
  return JSON.stringify({ exception_type: 'Parser', exception_message: message, position });
}

/** Returns unique column names. Appends a number to a duplicate, and avoids existing names. */
function uniqueNames(names: readonly string[]): string[] {
  const taken = new Set(names);
  const seen = new Set<string>();
  return names.map((name) => {
    if (!seen.has(name)) {
      seen.add(name);
      return name;
    }
    let times = 2;
    while (taken.has(`${name}_${times}`)) times++;
    taken.add(`${name}_${times}`);
    return `${name}_${times}`;
  });
}
