import type { RecordBatch } from '#arrow';
import { columnReader } from '#catalog/arrow/rowValues.ts';
import { readIpc } from '#catalog/arrow/ipcReader.ts';
import type { BatchStream, QuerySpec } from '#catalog/query/querySpec.ts';
import type { Wire, WireResponse } from '#catalog/transport/request.ts';
import { batchAdopter } from '#shared/arrow/adoptTable.ts';
import { schemaText } from '#shared/arrow/arrowTypes.ts';
import { IpcError } from '#shared/arrow/ipcError.ts';
import { CatalogError, type ErrorContext, isAbort, isCatalogError } from '#shared/errors.ts';

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
/** Each time this many pages were read, the client requests a count of the rows, to check that there are more. */
const maxRowPages = 10_000;

/** Reads one page and reports the bytes of each chunk that arrives. */
type PageReader = (page: QuerySpec, count: (bytes: number) => void) => Promise<BatchStream>;

/**
 * Returns the rows of a query page by page (`k` and `offset`); each page is requested after the previous one was read.
 * Only an empty page is the last one, because a server may limit pages to fewer rows than requested. A server that
 * ignores `offset` would send the same rows forever, so the rows are counted if a page starts like the previous one.
 * @param countRows counts the rows of the query without its limit
 */
export async function readPages(
  wire: Wire,
  spec: QuerySpec,
  read: PageReader,
  countRows: () => Promise<number>,
): Promise<BatchStream> {
  const progress = { offset: spec.offset ?? 0, left: spec.limit ?? Infinity, rows: 0, bytes: 0 };
  const next = (): Promise<BatchStream> => {
    const page = { ...spec, offset: progress.offset, limit: Math.min(pageRows(progress), progress.left) };
    return read(page, (bytes) => (progress.bytes += bytes));
  };
  const first = await next();
  return { schema: first.schema, batches: pages(wire, first, next, progress, countRows) };
}

type Progress = { offset: number; left: number; rows: number; bytes: number };

function pageRows({ rows, bytes }: Progress): number {
  if (rows === 0) return firstPageRows;
  return Math.min(Math.max(Math.floor((pageBytes * rows) / Math.max(bytes, 1)), 1), maxPageRows);
}

async function* pages(
  wire: Wire,
  first: BatchStream,
  next: () => Promise<BatchStream>,
  progress: Progress,
  countRows: () => Promise<number>,
): AsyncGenerator<RecordBatch, void, undefined> {
  // Each response has its own schema object, but all batches of a table need the same one.
  const adopt = batchAdopter(first.schema);
  const columns = schemaText(first.schema);
  let start: string | undefined;
  for (let page = first, number = 1; ; page = await next(), number += 1) {
    let rows = 0;
    for await (const batch of page.batches) {
      if (rows === 0 && schemaText(page.schema) !== columns)
        throw wire.unexpected('rows with other columns than before');
      if (rows === 0 && batch.numRows > 0) {
        const before = start;
        start = rowText(batch);
        const isLate = number % maxRowPages === 0;
        // Different rows may have the same text, so the rows are counted. There can't be more of them than the query
        // has.
        if (before === start || isLate) {
          const count = await countRows().catch(unknownIfUnsupported);
          if (count === undefined ? isLate : progress.offset >= count)
            throw wire.unexpected('a page without new rows: it ignores "offset"');
        }
      }
      rows += batch.numRows;
      // The check is needed because the next page would repeat the surplus rows.
      if (rows > progress.left) throw wire.unexpected('more rows than requested');
      yield page === first ? batch : (adopt(batch) ?? batch);
    }
    progress.offset += rows;
    progress.rows += rows;
    progress.left -= rows;
    if (rows === 0 || progress.left === 0) return;
  }
}

/** Returns the first row of a batch as text, to compare rows; large values are cut off. */
const rowText = ({ data }: RecordBatch): string =>
  JSON.stringify(
    data.children.map((column) => columnReader(column)(0)),
    (_, value: unknown) => (typeof value === 'bigint' ? String(value) : value),
  ).slice(0, 4096);

function unknownIfUnsupported(error: unknown): undefined {
  if (!isCatalogError(error, 'Unsupported')) throw error;
}
