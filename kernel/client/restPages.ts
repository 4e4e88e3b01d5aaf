import type { RecordBatch } from '#arrow';
import { batchAdopter } from '#shared/adoptTable.ts';
import { schemaText } from '#shared/arrowTypes.ts';
import type { QuerySpec } from './querySpec.ts';
import type { BatchStream } from './table.ts';
import type { Wire } from './wireRequest.ts';

/** Rows of the first page, whose width is not known yet; a query of no more needs no pages. */
export const firstPageRows = 8192;
/** What the pages after it are to have: enough that few are asked for, little enough for a server to make at once. */
const pageBytes = 32 * 1024 * 1024;
const maxPageRows = 1_000_000;

/** Reads one page; tells each piece of it that arrives by its bytes. */
export type PageReader = (page: QuerySpec, count: (bytes: number) => void) => Promise<BatchStream>;

/**
 * The rows of a query page after page (`k` and `offset`), each asked for when the one before has been read. A page with
 * fewer rows than were asked for is not taken for the last one, since a server may have a limit of its own: only one
 * without rows is.
 */
export async function readPages(wire: Wire, spec: QuerySpec, read: PageReader): Promise<BatchStream> {
  const progress = { offset: spec.offset ?? 0, left: spec.limit ?? Infinity, rows: 0, bytes: 0 };
  const next = (): Promise<BatchStream> => {
    const page = { ...spec, offset: progress.offset, limit: Math.min(pageRows(progress), progress.left) };
    return read(page, (bytes) => (progress.bytes += bytes));
  };
  const first = await next();
  return { schema: first.schema, batches: pages(wire, first, next, progress) };
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
): AsyncGenerator<RecordBatch, void, undefined> {
  // Each answer has a schema of its own, and a table is made of batches of one.
  const adopt = batchAdopter(first.schema);
  const columns = schemaText(first.schema);
  for (let page = first; ; page = await next()) {
    let rows = 0;
    for await (const batch of page.batches) {
      if (rows === 0 && schemaText(page.schema) !== columns)
        throw wire.unexpected('rows with other columns than before');
      rows += batch.numRows;
      // More rows than were asked for would come again with the next page.
      if (rows > progress.left) throw wire.unexpected('more rows than were asked for');
      yield page === first ? batch : (adopt(batch) ?? batch);
    }
    progress.offset += rows;
    progress.rows += rows;
    progress.left -= rows;
    if (rows === 0 || progress.left === 0) return;
  }
}
