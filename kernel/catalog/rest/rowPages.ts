import type { RecordBatch } from '#arrow';
import { columnReader } from '#catalog/arrow/rowValues.ts';
import { readIpc } from '#catalog/arrow/ipcReader.ts';
import type { BatchStream, QuerySpec } from '#catalog/query/querySpec.ts';
import type { Wire, WireResponse } from '#catalog/transport/request.ts';
import { batchAdopter } from '#shared/arrow/adoptTable.ts';
import { schemaText } from '#shared/arrow/arrowTypes.ts';
import { IpcError } from '#shared/arrow/ipcError.ts';
import { CatalogError, type CatalogErrorKind, type ErrorContext, isAbort, isCatalogError } from '#shared/errors.ts';
import { definedEntries } from '#shared/records.ts';

/**
 * Returns the rows of a response as they arrive. The connection is released when all rows are read, when reading fails,
 * and when the reader stops early. In the last case the server stops too.
 * @param maxRows the number of requested rows
 * @throws CatalogError ServiceUnavailable (17) if the response ends too early, Unsupported (0) if it uses a part of the
 * Arrow format that can't be read, Internal (18) if it is not valid Arrow data or has more rows than requested; the
 * batches throw later errors
 */
export async function readBatches(
  wire: Wire,
  { body }: WireResponse,
  context: ErrorContext,
  signal: AbortSignal | undefined,
  maxRows: number | undefined,
): Promise<BatchStream> {
  try {
    const { schema, batches } = await readIpc(body, undefined, { maxRows });
    return { schema, batches: whileOpen(batches) };
  } catch (error) {
    body.destroy();
    throw readError(wire, error, context, signal);
  }

  async function* whileOpen(batches: AsyncIterable<RecordBatch>): AsyncGenerator<RecordBatch, void, undefined> {
    try {
      for await (const batch of batches) {
        signal?.throwIfAborted();
        yield batch;
      }
    } catch (error) {
      throw readError(wire, error, context, signal);
    } finally {
      body.destroy();
    }
  }
}

/** Converts an error that occurred while a response was read. */
export function readError(wire: Wire, error: unknown, context: ErrorContext, signal: AbortSignal | undefined): unknown {
  if (signal?.aborted) return signal.reason;
  if (isCatalogError(error)) return error.about(context);
  if (isAbort(error)) return error;
  return (error instanceof IpcError ? ipcError(wire, error) : notArrow(wire, error)).about(context);
}

const notArrow = (wire: Wire, cause: unknown): CatalogError => wire.unexpected('rows that are not Arrow data', cause);

function ipcError(wire: Wire, error: IpcError): CatalogError {
  const { problem, message, hint = '' } = error;
  const cause = { cause: error };
  if (problem === 'cut') {
    const what = `${wire.name} ended its response before the last row.`;
    return new CatalogError('ServiceUnavailable', what, 'Try again. The log of the server may give the reason.', cause);
  }
  if (problem === 'surplus') return wire.unexpected('more rows than requested', error);
  if (problem === 'unsupported') {
    return new CatalogError('Unsupported', `Can't read the rows of ${wire.name}: ${message}`, hint, cause);
  }
  if (problem === 'malformed') return notArrow(wire, error);
  const what = `${wire.name} sent invalid Arrow data: ${message}`;
  return new CatalogError('Internal', what, 'Report this to the administrator of the server.', cause);
}

/**
 * Number of rows of the first page, when the width of a row is not known yet. A query of at most this many rows needs
 * no pages.
 */
export const firstPageRows = 8192;
/** Target size of the later pages: large enough for few requests, small enough for a server to hold at once. */
const pageBytes = 32 * 1024 * 1024;
const maxPageRows = 1_000_000;
/** From this page on, the rows are compared with a count. A query of fewer pages ends before a count would pay off. */
const countedPages = 16;
/** Pages that are read from a server that can neither count its rows nor prove that it obeys `offset`. */
const maxRowPages = 10_000;

/** Requests rows of one query. */
export type PageSource = {
  readonly wire: Wire;
  /** Reads one page and reports the bytes of each chunk that arrives. */
  read(page: QuerySpec, count: (bytes: number) => void): Promise<BatchStream>;
  /** Whether the server confirmed that the first response has all requested rows, so that no page follows. */
  isWhole(): boolean;
  countRows(filter: string | undefined): Promise<number>;
  /** Returns the error for rows that a server must not send. */
  failure(what: string): CatalogError;
};

/**
 * Returns the rows of a query page by page (`k` and `offset`); each page is requested after the previous one was read.
 * A page with fewer rows than requested is the last one, unless the server limits the rows of a page. So from such a
 * page on, the rows are compared with a count.
 * @param requestsAll whether the first page requests all rows of the query
 */
export async function readPages(
  source: PageSource,
  spec: QuerySpec,
  { requestsAll }: { requestsAll: boolean },
): Promise<BatchStream> {
  const { limit: left = Infinity, offset = 0, ...rest } = spec;
  const progress: Progress = { offset, left, requested: 0, rows: 0, bytes: 0 };
  const read = (limit: number): Promise<BatchStream> => {
    progress.requested = limit;
    const page = { ...rest, offset: progress.offset, ...(limit < Infinity && { limit }) };
    return source.read(page, (bytes) => (progress.bytes += bytes));
  };
  const next = (): Promise<BatchStream> => read(Math.min(pageRows(progress), progress.left));
  const first = await (requestsAll ? read(left) : next());
  if (source.isWhole()) return first;
  return { schema: first.schema, batches: pages(source, spec, { first, next, progress }) };
}

type Progress = {
  offset: number;
  /** Rows of the query that were not read yet. */
  left: number;
  /** Rows that the last page should have. */
  requested: number;
  rows: number;
  bytes: number;
};

function pageRows({ rows, bytes }: Progress): number {
  if (rows === 0) return firstPageRows;
  return Math.min(Math.max(Math.floor((pageBytes * rows) / Math.max(bytes, 1)), 1), maxPageRows);
}

async function* pages(
  source: PageSource,
  spec: QuerySpec,
  { first, next, progress }: { first: BatchStream; next: () => Promise<BatchStream>; progress: Progress },
): AsyncGenerator<RecordBatch, void, undefined> {
  // Each response has its own schema object, but all batches of a table need the same one.
  const adopt = batchAdopter(first.schema);
  const columns = schemaText(first.schema);
  const check = new RowPageCheck(source, spec);
  for (let page = first, number = 1; ; page = await next(), number += 1) {
    let rows = 0;
    for await (const batch of page.batches) {
      if (rows === 0 && schemaText(page.schema) !== columns)
        throw source.failure('rows with other columns than before');
      if (rows === 0 && batch.numRows > 0 && !(await check.isNew(batch, number, progress.offset))) return;
      rows += batch.numRows;
      // The check is needed because the next page would repeat the surplus rows.
      if (rows > progress.left) throw source.failure('more rows than requested');
      yield page === first ? batch : (adopt(batch) ?? batch);
    }
    // A server that ignores the offset would have sent rows again.
    if (rows === 0 && number > 1) offsets.set(source.wire, 'obeyed');
    progress.offset += rows;
    progress.rows += rows;
    progress.left -= rows;
    if (progress.left === 0) return;
    if (rows < progress.requested && (await check.isEnd(rows, number, progress.offset))) return;
  }
}

/** What a server does with the `offset` of a query; `unclear` if it refuses an offset beyond the end of a table. */
type OffsetUse = 'obeyed' | 'ignored' | 'unclear';

/** What is known about the server of a connection. */
const offsets = new WeakMap<Wire, OffsetUse>();

/** An offset beyond the end of nearly every table. With one row more it still fits into 32 bits. */
const beyondTheEnd = 2_000_000_000;

/** Kinds of errors by which a server may refuse a request that only checks its pages. */
const refusals: ReadonlySet<CatalogErrorKind> = new Set<CatalogErrorKind>([
  'InvalidInput',
  'Unsupported',
  'PermissionDenied',
  'Internal',
]);

/**
 * Checks that the pages of a query have each of its rows once. A server that ignores `offset` would send the same rows
 * forever, perhaps in another order. So before the first row at an offset is used, one request per connection asks for
 * a row beyond the end of the table. In addition the rows are counted if a page has fewer rows than requested, if a
 * page starts like the previous one, and if there are many pages.
 */
class RowPageCheck {
  readonly #source: PageSource;
  readonly #spec: QuerySpec;
  #start: string | undefined;
  /** The rows of the query without its limit and offset; `null` if the server can't count. */
  #count: number | null | undefined;
  /** The offset of an empty page that is requested again. */
  #emptyAt: number | undefined;

  constructor(source: PageSource, spec: QuerySpec) {
    this.#source = source;
    this.#spec = spec;
  }

  /**
   * Returns whether a page has rows that were not read before. Returns false if it repeats a first page that had all
   * rows of the query.
   * @param batch the first batch of the page
   * @throws CatalogError Internal (18) if the server repeats rows although there are more
   */
  async isNew(batch: RecordBatch, number: number, offset: number): Promise<boolean> {
    const before = this.#start;
    this.#start = rowText(batch);
    if (offset === 0) return true;
    const use = await this.#offsetUse();
    if (use === 'ignored' && !(await this.#isComplete(number, offset)))
      throw this.#source.failure('a page without new rows: it ignores "offset"');
    if (use === 'ignored') return false;
    // Different rows may have the same text, so the rows are counted.
    if (number === 1 || (before !== this.#start && number < countedPages)) return true;
    if (!(await this.#isBeyondCount(offset))) {
      if (this.#count === null && use === 'unclear' && number >= maxRowPages)
        throw this.#source.failure(`more than ${maxRowPages} pages of rows`);
      return true;
    }
    if (use === 'unclear' && (await this.#isComplete(number, offset))) return false;
    throw this.#source.failure('more rows than it counts: it repeats rows, or ignores the filter');
  }

  /**
   * Returns whether no row follows a page that has fewer rows than requested. If the server can't count, an empty page
   * means that no row follows.
   * @param offset the offset after the page
   * @throws CatalogError Internal (18) if the server sends no more rows, but counts more
   */
  async isEnd(rows: number, number: number, offset: number): Promise<boolean> {
    if (rows > 0) return this.#isBeyondFirstCount(offset);
    // A server that limits the rows of a page still sends some of them. Most empty first pages are the result of
    // filters that no row matches.
    if (number === 1 && offset === 0) return true;
    // Counted again, because another client may have deleted rows.
    const count = this.#count === null ? null : await this.#countAgain();
    if (count === null || count <= offset) return true;
    // Requested again, because another client may have added rows after the page was read.
    if (this.#emptyAt === offset) {
      const what = `an empty page of rows after ${offset} rows, although it counts ${count}`;
      throw this.#source.failure(this.#spec.filter === undefined ? what : `${what} that match the filter`);
    }
    this.#emptyAt = offset;
    return false;
  }

  /** Whether there was no row at this offset when the rows were first counted; false if the server can't count. */
  async #isBeyondFirstCount(offset: number): Promise<boolean> {
    const count = this.#count === undefined ? await this.#countAgain() : this.#count;
    return count !== null && count <= offset;
  }

  async #offsetUse(): Promise<OffsetUse> {
    const { wire } = this.#source;
    const use = offsets.get(wire) ?? (await this.#findOffsetUse());
    offsets.set(wire, use);
    return use;
  }

  async #findOffsetUse(): Promise<OffsetUse> {
    const countAll = (): Promise<number | undefined> => this.#source.countRows(undefined).catch(unknownIfRefused);
    let end: number | undefined = beyondTheEnd;
    let rows = await this.#rowsAt(end);
    if (rows === undefined) {
      end = await countAll();
      rows = end === undefined ? undefined : await this.#rowsAt(end);
    }
    if (rows === undefined || end === undefined) return 'unclear';
    // There may be a row, because the table is very large or other clients have added rows.
    return rows === 0 || ((await countAll()) ?? 0) > end ? 'obeyed' : 'ignored';
  }

  /** Returns 0 or 1, or `undefined` if the server refuses the offset. */
  async #rowsAt(offset: number): Promise<number | undefined> {
    // Without the filter, because a server may have to read the whole table to apply it.
    const { columns, columnAliases, withRowId } = this.#spec;
    const probe = { ...definedEntries({ columns, columnAliases, withRowId }), limit: 1, offset };
    try {
      const { batches } = await this.#source.read(probe, () => undefined);
      let rows = 0;
      for await (const { numRows } of batches) rows += numRows;
      return rows;
    } catch (error) {
      return unknownIfRefused(error);
    }
  }

  /** Whether the first page had all rows. The rows of the first page are right if the query has no offset. */
  async #isComplete(number: number, offset: number): Promise<boolean> {
    if (number !== 2 || (this.#spec.offset ?? 0) > 0) return false;
    return (await this.#countAgain()) === offset;
  }

  /** Whether there can't be a row at this offset. The rows are counted again, because other clients may add rows. */
  async #isBeyondCount(offset: number): Promise<boolean> {
    if (this.#count === null || (this.#count !== undefined && offset < this.#count)) return false;
    const count = await this.#countAgain();
    return count !== null && offset >= count;
  }

  async #countAgain(): Promise<number | null> {
    const count = this.#source.countRows(this.#spec.filter).catch((error: unknown) => {
      // A count that takes too long, for example with a filter, must not end the query. An empty page ends it then.
      if (!isCatalogError(error, 'ServiceUnavailable')) unknownIfRefused(error);
    });
    this.#count = (await count) ?? null;
    return this.#count;
  }
}

/** Returns the first row of a batch as text, to compare rows; large values are cut off. */
const rowText = ({ data }: RecordBatch): string =>
  JSON.stringify(
    data.children.map((column) => columnReader(column)(0)),
    (_, value: unknown) => (typeof value === 'bigint' ? String(value) : value),
  ).slice(0, 4096);

function unknownIfRefused(error: unknown): undefined {
  if (!isCatalogError(error) || !refusals.has(error.kind)) throw error;
}
