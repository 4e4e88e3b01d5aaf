import type * as sqliteModule from 'node:sqlite';
import type { DatabaseSync } from 'node:sqlite';
import { tableFromIPC, tableToIPC, type RecordBatch, type Schema } from '#arrow';
import { CatalogError, messageOf } from '#shared/errors.ts';
import { isSamePlace, type BoundQuery, type TablePlace } from '#session/sql/sqlMessages.ts';
import { quotedName } from '#session/sql/sqlText.ts';
import { affinityOf, storedReader, tableOf, type SqliteValue } from '#session/sql/sqlValues.ts';

type Sqlite = Pick<typeof sqliteModule, 'DatabaseSync' | 'constants'>;

/** Maximum number of rows in a result. */
const maxResult = 1_000_000;

/**
 * The in-memory database that answers one query. It contains the tables that the query names, with the columns and
 * rows read so far. Errors of SQLite are thrown unchanged.
 */
export class SqlDatabase {
  readonly #sqlite = loadSqlite();
  readonly #database: DatabaseSync;
  readonly #tables: (TablePlace & { fields: Schema['fields'] })[] = [];
  readonly #schemas = new Set(['main']);

  /** @throws CatalogError Unsupported (0) if Node was built without SQLite */
  constructor() {
    this.#database = new this.#sqlite.DatabaseSync(':memory:');
    this.#database.exec('PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF');
  }

  /** Returns the first table in the query that is not defined yet. */
  missing(text: string): string | null {
    try {
      this.#database.prepare(text);
      return null;
    } catch (error) {
      const [, missing] = /^no such table: (.+)$/s.exec(messageOf(error)) ?? [];
      if (missing === undefined) throw error;
      return missing;
    }
  }

  /** Creates an empty table with the fields of an Arrow stream. */
  define({ schema, name }: TablePlace, stream: Uint8Array): null {
    if (!this.#schemas.has(schema)) this.#attach(schema);
    const { fields } = tableFromIPC(stream).schema;
    const columns = fields.map((field) => `${quotedName(field.name)} ${affinityOf(field.type)}`);
    this.#database.exec(`CREATE TABLE ${qualifiedName({ schema, name })} (${columns.join(', ')})`);
    this.#tables.push({ schema, name, fields });
    return null;
  }

  /** Returns the columns that the query reads; null if this SQLite has no authorizer. */
  columns(text: string): (TablePlace & { column: string })[] | null {
    const database = this.#database;
    if (typeof database.setAuthorizer !== 'function') return null;
    const read: (TablePlace & { column: string })[] = [];
    database.setAuthorizer((_, name, column, schema) => {
      if (name !== null && column !== null && schema !== null) read.push({ schema, name, column });
      return this.#sqlite.constants.SQLITE_OK;
    });
    database.prepare(text);
    database.setAuthorizer(null);
    return read;
  }

  /**
   * Adds the rows of an Arrow stream.
   * @returns the size of text and binary values: characters and bytes
   */
  insert(place: TablePlace, stream: Uint8Array): number {
    let bytes = 0;
    for (const batch of tableFromIPC(stream).batches) bytes += this.#insertBatch(place, batch);
    return bytes;
  }

  /** Whether the query returns at least `wanted` rows from the data inserted so far. */
  isEnough({ text, bound }: BoundQuery, wanted: number): boolean {
    try {
      let rows = 0;
      const statement = this.#database.prepare(text);
      // With this setting, integers are read as bigint. Otherwise an integer beyond the range of a double would throw.
      statement.setReadBigInts(true);
      for (const _ of statement.iterate(...bound)) if (++rows >= wanted) return true;
      return rows >= wanted;
    } catch {
      // The error is ignored here, because `answer` reports it.
      return false;
    }
  }

  /**
   * @returns the rows of the query as an Arrow stream
   * @throws CatalogError InvalidInput (13) if there are too many rows
   */
  answer({ text, bound }: BoundQuery): Uint8Array {
    this.#database.exec('PRAGMA query_only = ON');
    const statement = this.#database.prepare(text);
    statement.setReadBigInts(true);
    const columns = statement.columns().map(({ name, column, table, database }) => {
      const place = { schema: database ?? '', name: table ?? '' };
      const origin = this.#tables.find((each) => isSamePlace(each, place));
      return { name, type: origin?.fields.find((field) => field.name === column)?.type };
    });
    statement.setReturnArrays(true);
    const rows: SqliteValue[][] = [];
    for (const row of statement.iterate(...bound)) {
      if (rows.length === maxResult)
        throw new CatalogError(
          'InvalidInput',
          `The result has more than ${maxResult.toLocaleString('en')} rows.`,
          'Add a limit, or group the rows.',
        );
      rows.push(row as unknown as SqliteValue[]);
    }
    return tableToIPC(tableOf(columns, rows), 'stream');
  }

  close(): void {
    this.#database.close();
  }

  #insertBatch(place: TablePlace, batch: RecordBatch): number {
    const names = batch.schema.names.map(String);
    const readers = names.map((name, index) => {
      const vector = batch.getChildAt(index);
      return vector ? storedReader(name, vector) : () => null;
    });
    const statement = this.#database.prepare(
      `INSERT INTO ${qualifiedName(place)} (${names.map(quotedName).join(', ')}) VALUES (${names.map(() => '?').join(', ')})`,
    );
    let bytes = 0;
    this.#database.exec('BEGIN');
    for (let row = 0; row < batch.numRows; row++) {
      const values = readers.map((read) => read(row));
      for (const value of values) if (typeof value === 'string' || value instanceof Uint8Array) bytes += value.length;
      statement.run(...values);
    }
    this.#database.exec('COMMIT');
    return bytes;
  }

  #attach(schema: string): void {
    try {
      this.#database.exec(`ATTACH ':memory:' AS ${quotedName(schema)}`);
    } catch (error) {
      throw new CatalogError(
        'InvalidInput',
        `The query uses too many namespaces: ${messageOf(error)}.`,
        `For some namespaces, write the namespace and the table as one name, such as "${schema}/table".`,
        { cause: error },
      );
    }
    this.#schemas.add(schema);
  }
}

const qualifiedName = ({ schema, name }: TablePlace): string => `${quotedName(schema)}.${quotedName(name)}`;

function loadSqlite(): Sqlite {
  const sqlite = process.getBuiltinModule('node:sqlite') as Sqlite | undefined;
  if (sqlite) return sqlite;
  throw new CatalogError(
    'Unsupported',
    'The Node of this kernel has no SQLite.',
    'Use a standard build of Node 22.19 or later.',
  );
}
