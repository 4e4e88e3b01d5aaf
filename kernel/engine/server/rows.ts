import type { IncomingHttpHeaders } from 'node:http';
import { preference } from '#catalog/contract.ts';
import { parsePreferences, queryPreferences } from '#catalog/preferences.ts';
import { arrowFileMime, arrowStreamMime } from '#shared/mime.ts';
import type { Query } from '#catalog/query/query.ts';
import type { QuerySpec } from '#catalog/query/querySpec.ts';
import type { Table } from '#catalog/table/table.ts';
import { encodeBatches, streamOfFile, streamOfFiles } from '#engine/batches/ipcStream.ts';
import type { Streamed, Whole } from './reply.ts';
import type { Rows } from './routeTypes.ts';

/**
 * Returns the rows of a query as Arrow IPC: in the stream format if the client accepts it, otherwise in the file format
 * that the specification prescribes.
 */
export async function rowsOf(rows: Rows, headers: IncomingHttpHeaders, signal: AbortSignal): Promise<Streamed | Whole> {
  const isCompleteWished = parsePreferences(headers['prefer']).has(preference.completeRows);
  const applied = [queryPreferences(rows.spec) ?? [], isCompleteWished ? preference.completeRows : []].flat();
  const isStream = headers.accept?.includes(arrowStreamMime) ?? false;
  return {
    headers: {
      'content-type': isStream ? arrowStreamMime : arrowFileMime,
      ...(applied.length > 0 && { 'preference-applied': applied.join(', ') }),
    },
    ...(await bytesOf(rows, isStream ? 'stream' : 'file', signal)),
  };
}

async function bytesOf(
  { table, spec }: Rows,
  format: 'file' | 'stream',
  signal: AbortSignal,
): Promise<Pick<Streamed, 'chunks'> | Pick<Whole, 'bytes'>> {
  const native = format === 'stream' ? await table.executeIpc(spec, signal) : undefined;
  if (native && 'only' in native) return { bytes: streamOfFile(native.only) };
  if (native) return { chunks: streamOfFiles(native.schema, native.buffers) };
  const { schema, batches } = await queryOf(table, spec).execute({ signal });
  return { chunks: encodeBatches(format, schema, batches) };
}

export function queryOf(table: Table, spec: QuerySpec): Query {
  let query = table.query();
  if (spec.vector) {
    const { values, more, ...options } = spec.vector;
    query = query.nearestTo(more ? [values, ...more] : values, options);
  }
  if (spec.fullText) {
    const { query: words, ...options } = spec.fullText;
    query = query.fullTextSearch(words, options);
  }
  const columns = spec.columns ?? spec.columnAliases;
  if (columns) query = query.select(columns);
  if (spec.filter !== undefined) query = query.where(spec.filter);
  if (spec.limit !== undefined) query = query.limit(spec.limit);
  if (spec.maxBytes !== undefined) query = query.limitBytes(spec.maxBytes);
  if (spec.offset !== undefined) query = query.offset(spec.offset);
  if (spec.orderBy) query = query.orderBy(spec.orderBy);
  if (spec.withRowId) query = query.withRowId();
  if (spec.prefilter === false) query = query.postfilter();
  if (spec.fastSearch) query = query.fastSearch();
  return query;
}
