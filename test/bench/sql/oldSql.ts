import { fork } from 'node:child_process';
import type { DatabaseSync } from 'node:sqlite';
import { DataType, type RecordBatch, Table, tableFromIPC, tableToIPC, type Vector } from '#arrow';
import type { Catalog } from '#catalog/catalog.ts';
import { timestampText } from '#shared/format/times.ts';
import { readColumns, type SqlQueryName } from './sqlQueries.ts';

// How the product answered SQL before it had DuckDB: it copied the columns that a query reads into SQLite in a child
// process, a row at a time, and ran the query there. Kept as a peer of the benchmark.

type Message = { table: string; schema?: Uint8Array; rows?: Uint8Array } | { query: string };

/** Runs queries in a fresh child process each, as the product did: it had one database for each query. */
export async function openOldSql(
  catalog: Catalog,
  query: SqlQueryName,
): Promise<{ run: (text: string) => Promise<unknown[][]>; close: () => Promise<unknown> }> {
  const child = fork(import.meta.filename, ['child'], { serialization: 'advanced' });
  const ask = (message: Message): Promise<unknown> =>
    new Promise((resolve) => {
      child.once('message', resolve);
      child.send(message);
    });
  const columns = { orders: readColumns[query], ...(query === 'join' && { products: ['id', 'category'] }) };
  return {
    async run(text) {
      for (const [name, names] of Object.entries(columns)) {
        const table = await catalog.openTable(name);
        const scan = await table
          .query()
          .select([...names])
          .execute();
        let added: Promise<unknown> = ask({ table: name, schema: tableToIPC(new Table(scan.schema), 'stream') });
        for await (const batch of scan.batches) {
          await added;
          // Reads the next batch while the database inserts this one.
          added = ask({ table: name, rows: tableToIPC(new Table([batch]), 'stream') });
        }
        await added;
      }
      return (await ask({ query: text })) as unknown[][];
    },
    async close() {
      child.kill('SIGKILL');
      await catalog.close();
    },
  };
}

async function serve(): Promise<void> {
  const { DatabaseSync: Database } = await import('node:sqlite');
  let database = new Database(':memory:');
  process.on('message', (message: Message) => {
    if ('query' in message) {
      const statement = database.prepare(message.query);
      statement.setReadBigInts(true);
      statement.setReturnArrays(true);
      process.send!(statement.all());
      database.close();
      database = new Database(':memory:');
      return;
    }
    if (message.schema) define(database, message.table, tableFromIPC(message.schema));
    for (const batch of message.rows ? tableFromIPC(message.rows).batches : []) insert(database, message.table, batch);
    process.send!(null);
  });
}

function define(database: DatabaseSync, name: string, { schema }: Table): void {
  const columns = schema.fields.map((field) => {
    const type = DataType.isInt(field.type) ? 'INTEGER' : DataType.isFloat(field.type) ? 'REAL' : 'TEXT';
    return `"${field.name}" ${type}`;
  });
  database.exec('PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF');
  database.exec(`CREATE TABLE ${name} (${columns.join(', ')})`);
}

function insert(database: DatabaseSync, name: string, batch: RecordBatch): void {
  const readers = batch.schema.fields.map((_, index) => reader(batch.getChildAt(index)!));
  const statement = database.prepare(`INSERT INTO ${name} VALUES (${readers.map(() => '?').join(', ')})`);
  database.exec('BEGIN');
  for (let row = 0; row < batch.numRows; row++) statement.run(...readers.map((read) => read(row)));
  database.exec('COMMIT');
}

function reader(vector: Vector): (row: number) => null | number | bigint | string {
  if (!DataType.isTimestamp(vector.type)) return (row) => vector.get(row) as string;
  const { unit } = vector.type;
  const [data] = vector.data;
  return (row) => (data!.getValid(row) ? timestampText((data!.values as BigInt64Array)[row]!, unit) : null);
}

if (process.argv[2] === 'child' && process.send) await serve();
