import { AsyncLocalStorage } from 'node:async_hooks';
import type { Readable, Writable } from 'node:stream';
import {
  type Data,
  DataType,
  type Field,
  makeData,
  RecordBatch,
  Schema,
  Struct,
  Table as ArrowTable,
  tableToIPC,
} from '#arrow';
import { typeText } from '#shared/arrow/arrowTypes.ts';
import { CatalogError, messageOf } from '#shared/errors.ts';
import { withOwnGlobals } from '#shared/ownGlobals.ts';
import { isRecord } from '#shared/records.ts';
import {
  type PullDescription,
  type PullFailure,
  pullHeaderBytes,
  type PullRequest,
  type PullScan,
  type ScanSource,
} from './messages.ts';
import type { ScanRequest, SqlTable } from './sqlTable.ts';

type Reply = { json: unknown; bytes: Uint8Array };
const noBytes = new Uint8Array();

/** The reply to a request after its query has ended. */
const ended: PullFailure = { failure: 'ended' };

/** How the tables of a query are read. */
export type Scans = {
  /** Resolves a source to its table. */
  table(source: ScanSource, signal: AbortSignal): Promise<SqlTable>;
  /** Returns what a scan may leave out. */
  request(source: ScanSource, columns: readonly string[]): ScanRequest;
  /** Wraps the batches of a scan, for instance to show progress. */
  watch(table: SqlTable, request: ScanRequest, batches: AsyncIterable<RecordBatch>): AsyncIterable<RecordBatch>;
};

/** Answers the requests of one query for tables and batches. */
export class QueryPulls {
  readonly #scans: Scans;
  readonly #open = new Map<number, RunningScan>();
  readonly #tables = new Map<string, Promise<SqlTable>>();
  readonly #ended = new AbortController();
  readonly #signal: AbortSignal;
  /**
   * Runs a function in the async context of the query. Requests arrive in the context of the query that started the
   * process, so progress would be shown in the cell of that query.
   */
  readonly #inContext = AsyncLocalStorage.snapshot();
  #nextId = 1;
  #error: unknown;

  constructor(scans: Scans, signal: AbortSignal) {
    this.#scans = scans;
    this.#signal = AbortSignal.any([signal, this.#ended.signal]);
  }

  /** The first failure of a table. The query fails with it, and not with the engine's copy of its message. */
  get error(): unknown {
    return this.#error;
  }

  answer(request: PullRequest): Promise<Reply> {
    return this.#inContext(() => this.#answer(request));
  }

  async #answer(request: PullRequest): Promise<Reply> {
    try {
      this.#signal.throwIfAborted();
      // A query that has failed runs again for its error, and must not read its tables for it.
      if (this.#error !== undefined) return { json: { failure: 'failed' }, bytes: noBytes };
      if ('describe' in request) return await this.#describe(request.describe);
      if ('open' in request) return await this.#start(request.open, request.columns);
      return await this.#read(request.next);
    } catch (error) {
      this.#error ??= error;
      return { json: { failure: 'failed' }, bytes: noBytes };
    }
  }

  /** Ends scans that the engine has not read to their end. */
  close(): void {
    this.#ended.abort();
    for (const scan of this.#open.values()) scan.close();
    this.#open.clear();
  }

  #table(source: ScanSource): Promise<SqlTable> {
    const key = JSON.stringify(source);
    const found = this.#tables.get(key) ?? this.#scans.table(source, this.#signal);
    this.#tables.set(key, found);
    return found;
  }

  async #describe(source: ScanSource): Promise<Reply> {
    const { schema, rows } = await this.#table(source);
    const description: PullDescription = { rows: rows ?? null };
    return { json: description, bytes: writeStream(new ArrowTable(schema)) };
  }

  async #start(source: ScanSource, columns: readonly string[]): Promise<Reply> {
    const table = await this.#table(source);
    const id = this.#nextId++;
    // If a query needs only the number of rows, nothing is read.
    if (columns.length === 0 && table.rows !== undefined)
      return { json: { scan: id, rows: table.rows } satisfies PullScan, bytes: noBytes };
    const fields = columns.length > 0 ? fieldsOf(table, columns) : [narrowest(table)];
    const names = fields.map(({ name }) => name);
    const request = this.#scans.request(source, names);
    const batches = this.#scans.watch(table, request, table.scan(request, this.#signal));
    this.#open.set(id, new RunningScan(withColumns(batches, fields, table.name), fields));
    return { json: { scan: id, rows: null } satisfies PullScan, bytes: noBytes };
  }

  async #read(id: number): Promise<Reply> {
    const scan = this.#open.get(id);
    if (!scan) return { json: null, bytes: noBytes };
    const batches = await scan.next();
    if (batches.length === 0) this.#open.delete(id);
    return { json: null, bytes: batches.length === 0 ? noBytes : writeStream(new ArrowTable(batches)) };
  }
}

/** Bytes of batches that are read while the engine computes, and then sent together. */
const aheadBytes = 1024 * 1024;

/**
 * A running scan. Batches are read ahead, because tables have small ones and each reply costs a change of processes.
 * This begins with the second request: a query with a limit often needs just the first batch.
 */
class RunningScan {
  readonly #reader: AsyncIterator<RecordBatch>;
  /** Batches whose dictionaries may differ are sent one by one. */
  readonly #isOneByOne: boolean;
  #ready: RecordBatch[] = [];
  #bytes = 0;
  #requests = 0;
  #isReading = false;
  #isAtEnd = false;
  #error: Error | undefined;
  /** Continues `next`, which waits for a batch. */
  #wake = (): void => {};

  constructor(batches: AsyncIterable<RecordBatch>, fields: readonly Field[]) {
    this.#reader = batches[Symbol.asyncIterator]();
    this.#isOneByOne = fields.some((field) => hasDictionary(field));
    void this.#readAhead();
  }

  /** Returns the batches that are ready, after at least one is; none at the end. */
  async next(): Promise<RecordBatch[]> {
    this.#requests++;
    void this.#readAhead();
    while (this.#ready.length === 0 && !this.#isAtEnd) await new Promise<void>((resolve) => (this.#wake = resolve));
    const batches = this.#isOneByOne ? this.#ready.splice(0, 1) : this.#ready;
    if (!this.#isOneByOne) this.#ready = [];
    this.#bytes = this.#ready.reduce((sum, { data }) => sum + data.byteLength, 0);
    if (batches.length === 0 && this.#error) throw this.#error;
    if (this.#requests > 1) void this.#readAhead();
    return batches;
  }

  close(): void {
    this.#isAtEnd = true;
    this.#wake();
    void Promise.resolve(this.#reader.return?.()).catch(() => {});
  }

  get #isEnough(): boolean {
    return this.#isAtEnd || (this.#requests > 1 ? this.#bytes >= aheadBytes : this.#ready.length > 0);
  }

  /** Reads until enough is ready. An error is reported when the engine asks for the batch that it replaces. */
  async #readAhead(): Promise<void> {
    if (this.#isReading) return;
    this.#isReading = true;
    try {
      while (!this.#isEnough) {
        const { value, done } = await this.#reader.next();
        if (done === true) this.#isAtEnd = true;
        else if (value.numRows > 0) {
          this.#ready.push(value);
          this.#bytes += value.data.byteLength;
        }
        this.#wake();
      }
    } catch (error) {
      this.#error = error instanceof Error ? error : new Error(messageOf(error), { cause: error });
      this.#isAtEnd = true;
      this.#wake();
    } finally {
      this.#isReading = false;
    }
  }
}

const hasDictionary = ({ type }: Field): boolean =>
  DataType.isDictionary(type) || ((type.children ?? []) as Field[]).some((child) => hasDictionary(child));

/**
 * Needed because Arrow creates a TextDecoder for every message, and a cell may have replaced this global.
 */
const writeStream = (table: ArrowTable): Uint8Array => withOwnGlobals(() => tableToIPC(table, 'stream'));

function fieldsOf({ schema }: SqlTable, names: readonly string[]): Field[] {
  const byName = new Map(schema.fields.map((field) => [field.name, field]));
  return names.map((name) => byName.get(name)!);
}

const widthOf = ({ type }: Field): number => {
  const width: unknown = Reflect.get(type, 'bitWidth');
  return typeof width === 'number' ? width : type.children?.length ? 10_000 : 500;
};

/** Returns the column that takes the fewest bytes to read. */
function narrowest({ schema }: SqlTable): Field {
  return schema.fields.toSorted((one, other) => widthOf(one) - widthOf(other))[0]!;
}

/**
 * Yields batches with exactly these columns. Arrow's `select` can't be used: it returns columns other than the first
 * ones as empty.
 * @throws CatalogError InvalidTableState (19) if the table has got other columns
 */
async function* withColumns(
  batches: AsyncIterable<RecordBatch>,
  fields: readonly Field[],
  name: string,
): AsyncGenerator<RecordBatch> {
  const schema = new Schema([...fields]);
  let known: Schema | undefined;
  let places: (number | undefined)[] = [];
  for await (const batch of batches) {
    if (batch.schema !== known) {
      // Looking up each name in the list of names would take seconds for tables of thousands of columns.
      const byName = new Map(batch.schema.fields.map((field, index) => [field.name, index]));
      places = fields.map((field) => byName.get(field.name));
      known = batch.schema;
    }
    const children = fields.map((field, index): Data => {
      const place = places[index];
      const data = place === undefined ? undefined : batch.data.children[place];
      if (data && typeText(data.type) === typeText(field.type)) return data;
      throw new CatalogError(
        'InvalidTableState',
        `The column "${field.name}" of ${name} changed while the query read it.`,
        'Run the query again.',
      );
    });
    const data = makeData({ type: new Struct(schema.fields), length: batch.numRows, nullCount: 0, children });
    yield new RecordBatch(schema, data);
  }
}

/** Reads requests from a process, answers them in order, and writes the replies. */
export function servePulls(requests: Readable, replies: Writable, current: () => QueryPulls | undefined): void {
  let text = '';
  let answered = Promise.resolve();
  requests.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk;
    for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n')) {
      const request = parseRequest(text.slice(0, end));
      text = text.slice(end + 1);
      answered = reply(request, answered);
    }
  });
  /** Writes the reply to a request after the replies before it. */
  async function reply(request: PullRequest | undefined, before: Promise<void>): Promise<void> {
    await before;
    const { json, bytes } = (request && (await current()?.answer(request))) ?? { json: ended, bytes: noBytes };
    const body = Buffer.from(JSON.stringify(json));
    const header = Buffer.alloc(pullHeaderBytes);
    header.writeUInt32LE(body.length, 0);
    header.writeUInt32LE(bytes.length, 4);
    replies.write(Buffer.concat([header, body]));
    if (bytes.length > 0) replies.write(bytes);
  }
  // The end of the process is reported by its exit.
  for (const stream of [requests, replies]) stream.on('error', () => {});
}

function parseRequest(line: string): PullRequest | undefined {
  const value: unknown = JSON.parse(line);
  return isRecord(value) ? (value as PullRequest) : undefined;
}
