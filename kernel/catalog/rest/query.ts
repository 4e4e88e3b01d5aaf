import { type RecordBatch, tableToIPC } from '#arrow';
import type { CallOptions } from '#catalog/arguments/options.ts';
import { maxDecompressed, withinBudget } from '#catalog/arrow/ipcCompression.ts';
import { endOfStream, ipcMessages } from '#catalog/arrow/ipcMessages.ts';
import { gatherRows } from '#catalog/arrow/gatherRows.ts';
import { untilBytes } from '#catalog/arrow/untilBytes.ts';
import { encodeStream } from '#catalog/arrow/ipcWriter.ts';
import { noLimit, type Operation, preference } from '#catalog/contract.ts';
import { queryPreferences } from '#catalog/preferences.ts';
import {
  type BatchStream,
  defaultProbes,
  probedPartitions,
  type QueryOptions,
  type QueryRunner,
  type QuerySpec,
} from '#catalog/query/querySpec.ts';
import type { Wire, WireResponse } from '#catalog/transport/request.ts';
import { readBytes } from '#processes/readBytes.ts';
import { readArrow } from '#shared/arrow/readArrow.ts';
import { CatalogError, type ErrorContext } from '#shared/errors.ts';
import { arrowStreamMime } from '#shared/mime.ts';
import { displayPath } from '#shared/names.ts';
import { definedEntries } from '#shared/records.ts';
import { fullTextRequest } from './fullTextRequest.ts';
import { firstPageRows, readBatches, readError, readPages } from './rowPages.ts';
import { about, countRows, onBranch, pinned, type RestTarget } from './target.ts';
import { isString } from '#shared/shape.ts';

/** Whether a query searches by vector or by text. Then the best rows come first; all other rows come in table order. */
const isSearch = (spec: QuerySpec): boolean => spec.vector !== undefined || spec.fullText !== undefined;

/** Whether a query returns rows in table order, so that a request with an offset continues it. */
const isScan = (spec: QuerySpec): boolean => !isSearch(spec) && !spec.orderBy && spec.limit !== 0;

/** The number of requested rows. Default: 10 for a search, else all. */
const rowLimit = (spec: QuerySpec): number | undefined => spec.limit ?? (isSearch(spec) ? 10 : undefined);

/**
 * The maximum number of rows that a response may have; `undefined` for no maximum. The limit applies to each vector. A
 * limit of 0 has no maximum, because the request asks for one row, which is not read.
 */
const requestedRows = (spec: QuerySpec): number | undefined =>
  (rowLimit(spec) ?? 0) * (1 + (spec.vector?.more?.length ?? 0)) || undefined;

/**
 * Returns the search to send without an offset, and the number of first rows to drop here. Some servers subtract the
 * offset from the requested number of rows, so too few rows would arrive.
 */
function widened(spec: QuerySpec): { asked: QuerySpec; skip: number } {
  const { offset = 0, ...rest } = spec;
  const limit = rowLimit(spec);
  if (offset === 0 || !isSearch(spec) || spec.orderBy || !limit) return { asked: spec, skip: 0 };
  return { asked: { ...rest, limit: limit + offset }, skip: offset };
}

/** Returns a query as in the specification ("QueryTableRequest"), plus its order. */
function queryBody(target: RestTarget, spec: QuerySpec): Record<string, unknown> {
  const { columns, columnAliases, filter, offset, orderBy, withRowId, prefilter, fastSearch, vector, fullText } = spec;
  return {
    ...pinned(target),
    // The contract requires a vector and a row count. A query without a search sends an empty vector, and a query
    // without a limit sends the largest count. Some servers treat 0 as all rows, so a limit of 0 is sent as 1 and the
    // row is not read.
    vector: vector?.more ? { multi_vector: [vector.values, ...vector.more] } : { single_vector: vector?.values ?? [] },
    k: Math.min(Math.max(rowLimit(spec) ?? noLimit, 1), noLimit),
    ...(columns && { columns: { column_names: columns } }),
    ...(columnAliases && { columns: { column_aliases: columnAliases } }),
    ...definedEntries({ filter, offset }),
    // Sent with every search that has a filter, because servers have different defaults.
    ...(isSearch(spec) && filter !== undefined ? { prefilter: prefilter ?? true } : definedEntries({ prefilter })),
    ...definedEntries({ with_row_id: withRowId, fast_search: fastSearch }),
    ...(vector &&
      definedEntries({
        vector_column: vector.column,
        distance_type: vector.distanceType,
        ...probes(vector),
        refine_factor: vector.refineFactor,
        ef: vector.ef,
        bypass_vector_index: vector.bypassVectorIndex,
        lower_bound: vector.lowerBound,
        upper_bound: vector.upperBound,
      })),
    ...(fullText && { full_text_query: textBody(fullText) }),
    ...(orderBy && {
      order_by: orderBy.map(({ column, descending, nullsFirst }) => ({
        column,
        ...definedEntries({ descending, nulls_first: nullsFirst }),
      })),
    }),
  };
}

const textBody = ({ query, columns }: NonNullable<QuerySpec['fullText']>): Record<string, unknown> =>
  typeof query === 'string'
    ? { string_query: { query, ...definedEntries({ columns }) } }
    : { structured_query: { query: fullTextRequest(query) } };

/**
 * Returns the numbers of partitions to search. `minimum_nprobes` and `maximum_nprobes` are in the specification since
 * release 0.13. Servers of that release then ignore `nprobes`. Older servers know only `nprobes` and search the
 * minimum.
 */
function probes(options: QueryOptions): Record<string, number | undefined> {
  const { minimum, maximum } = probedPartitions(options);
  if (minimum === maximum) return { nprobes: minimum };
  // Without a maximum, a server may search all partitions. It needs the minimum to know that there is no maximum.
  const least = maximum === 0 ? (minimum ?? defaultProbes) : minimum;
  return { nprobes: least, minimum_nprobes: least, maximum_nprobes: maximum === 0 ? undefined : maximum };
}

const maxPlanBytes = 16 * 1024 * 1024;

/**
 * Requests a plan. By the REST part of the specification, the response is a bare JSON string. By its data model, the
 * response is an object with one string. Some servers send plain text.
 */
function readText(target: RestTarget, operation: Operation, json: unknown, { signal }: CallOptions): Promise<string> {
  return about(target, operation, async () => {
    const { body, contentType } = await target.wire.send({
      operation,
      id: target.id,
      json,
      isShort: true,
      signal,
    });
    const tooLong = (): CatalogError => target.wire.unexpected(`a plan of more than ${maxPlanBytes} bytes`);
    const text = (await readBytes(body, maxPlanBytes, tooLong)).toString('utf8');
    if (contentType.startsWith('text/plain')) return text;
    const plan = parse(text);
    const value = typeof plan === 'object' && plan !== null ? Object.values(plan).find(isString) : plan;
    if (isString(value)) return value;
    throw target.wire.unexpected('a plan that is not a string');
  });
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/**
 * Whether the server of a connection streams the results of queries, and confirms that none of the requested rows is
 * missing. Other servers may limit the rows of a response, or prepare all rows before they send the first.
 */
const streams = new WeakMap<Wire, boolean>();

const webPage = /^(?:text\/html|application\/xhtml\+xml)\b/;

/** Runs queries of a table on its server ("QueryTable", "ExplainTableQueryPlan", "AnalyzeTableQueryPlan"). */
export class RestQueryRunner implements QueryRunner {
  readonly #target: RestTarget;
  readonly #newestVersion: (options: CallOptions) => Promise<number | undefined>;

  /** @param newestVersion returns the version to read page by page, or `undefined` if the server reports none */
  constructor(target: RestTarget, newestVersion: (options: CallOptions) => Promise<number | undefined>) {
    this.#target = target;
    this.#newestVersion = newestVersion;
  }

  /**
   * Returns the rows as they arrive. If a server does not stream all of them, this method requests pages: then neither
   * side holds the whole result, and the result is complete even if the server limits the rows of a response. Pages of
   * a long result are of one version; if the server reports no version, concurrent writes may show in the result.
   *
   * A search is always one request and is not compared with the number of rows: it may rightly find fewer rows than
   * requested, because an index reads only some partitions, searches by words find only rows that have them, and a
   * filter may follow the search.
   */
  run(spec: QuerySpec, signal?: AbortSignal): Promise<BatchStream> {
    return about(this.#target, 'QueryTable', async () => {
      const { wire } = this.#target;
      const limit = rowLimit(spec);
      const isLong = limit === undefined || limit > firstPageRows;
      const isOneRequest = !isScan(spec) || (streams.get(wire) ?? (isLong && (await this.#sendsStreams(signal))));
      if (isOneRequest) {
        const { asked, skip } = widened(spec);
        const { schema, batches } = await this.#read(this.#target, asked, signal);
        return limited(spec, {
          schema,
          batches: skip > 0 ? skipping(skip, batches, spec.vector?.more !== undefined) : batches,
        });
      }
      // A short result mostly needs one request, so no other request is sent for its version.
      const version = this.#target.version ?? (isLong ? await this.#newestVersion({ signal }) : undefined);
      return this.#readPages({ ...this.#target, version }, spec, signal);
    });
  }

  explainPlan(spec: QuerySpec, options: CallOptions & { verbose?: boolean | undefined }): Promise<string> {
    const query = queryBody(this.#target, spec);
    const json = { query, verbose: options.verbose ?? false, ...onBranch(this.#target) };
    return readText(this.#target, 'ExplainTableQueryPlan', json, options);
  }

  analyzePlan(spec: QuerySpec, options: CallOptions): Promise<string> {
    return readText(this.#target, 'AnalyzeTableQueryPlan', queryBody(this.#target, spec), options);
  }

  /**
   * Returns the rows as one uncompressed Arrow IPC stream, for callers that forward them without decoding.
   * @throws CatalogError InvalidInput (13) for more than `maxBytes`
   */
  queryIpc(spec: QuerySpec, maxBytes: number, signal?: AbortSignal): Promise<Uint8Array> {
    return about(this.#target, 'QueryTable', async () => {
      const { wire } = this.#target;
      const needsPages = (): boolean => isScan(spec) && streams.get(wire) === false;
      if (widened(spec).skip > 0 || needsPages()) return encodeRows(await this.run(spec, signal), maxBytes);
      const response = await this.#send(this.#target, spec, signal);
      if (needsPages()) return encodeRows(await this.#readPages(this.#target, spec, signal, response), maxBytes);
      const { body } = response;
      const parts: Uint8Array[] = [];
      let total = 0;
      let isCompressed = false;
      try {
        for await (const { kind, isCompressed: isPacked, bytes } of ipcMessages(body, {
          maxRows: requestedRows(spec),
        })) {
          if (kind === 'batch' && spec.limit === 0) break;
          total += bytes.length;
          if (total > maxBytes) throw tooLarge(maxBytes);
          isCompressed ||= isPacked;
          parts.push(bytes);
          if (kind === 'batch' && spec.maxBytes !== undefined && total >= spec.maxBytes) break;
        }
      } catch (error) {
        throw readError(this.#target.wire, error, this.#context, signal);
      } finally {
        body.destroy();
      }
      const stream = Buffer.concat([...parts, endOfStream]);
      if (!isCompressed) return stream;
      try {
        return tableToIPC(
          withinBudget(maxDecompressed, () => readArrow(stream, { canDecompress: true })),
          'stream',
        );
      } catch (error) {
        throw readError(this.#target.wire, error, this.#context, signal);
      }
    });
  }

  /**
   * Returns the rows of a scan from as many responses as needed.
   * @param first the response to the request of all rows, if it was sent already
   */
  async #readPages(
    target: RestTarget,
    spec: QuerySpec,
    signal: AbortSignal | undefined,
    first?: WireResponse,
  ): Promise<BatchStream> {
    const { wire } = target;
    let given = first;
    const rows = await readPages(
      {
        wire,
        read: (page, count) => {
          const response = given;
          given = undefined;
          return this.#read(target, page, signal, count, response);
        },
        isWhole: () => streams.get(wire) === true,
        countRows: (filter) => countRows(target, filter, { signal }),
        failure: (what) => wire.unexpected(what).about(this.#context),
      },
      spec,
      { requestsAll: first !== undefined },
    );
    return limited(spec, rows);
  }

  async #read(
    target: RestTarget,
    spec: QuerySpec,
    signal: AbortSignal | undefined,
    count?: (bytes: number) => void,
    first?: WireResponse,
  ): Promise<BatchStream> {
    const response = first ?? (await this.#send(target, spec, signal));
    const { body } = response;
    const answer = count ? { ...response, body: counted(body, count) } : response;
    const { schema, batches } = await readBatches(target.wire, answer, this.#context, signal, requestedRows(spec));
    // Without the column `query_index`, the server may have searched by the first vector alone.
    if (
      spec.vector?.more &&
      !response.applied.includes(preference.severalVectors) &&
      !schema.names.includes('query_index')
    ) {
      body.destroy();
      const what = `${target.wire.name} can't search by several vectors.`;
      throw new CatalogError('Unsupported', what, 'Run one query for each vector.');
    }
    if (spec.limit !== 0) return { schema, batches };
    body.destroy();
    return { schema, batches: none() };
  }

  async #send(target: RestTarget, spec: QuerySpec, signal: AbortSignal | undefined): Promise<WireResponse> {
    const { wire, id } = target;
    const prefer = [preference.completeRows, queryPreferences(spec) ?? []].flat().join(', ');
    const response = await wire.send({
      operation: 'QueryTable',
      id,
      json: queryBody(target, spec),
      accept: arrowStreamMime,
      prefer,
      signal,
    });
    // A response with rows may have no content type or a general one. The content type of a web page means that the
    // response is from a proxy or from another kind of server.
    if (webPage.test(response.contentType)) {
      response.body.destroy();
      throw wire.unexpected(`a web page instead of rows (${response.contentType})`);
    }
    const isStream = response.contentType.startsWith(arrowStreamMime);
    streams.set(wire, isStream && response.applied.includes(preference.completeRows));
    if (!spec.orderBy || response.applied.includes(preference.order)) return response;
    response.body.destroy();
    throw new CatalogError('Unsupported', `${wire.name} can't sort rows.`, 'Leave out orderBy(), and sort the result.');
  }

  async #sendsStreams(signal: AbortSignal | undefined): Promise<boolean> {
    const known = streams.get(this.#target.wire);
    if (known !== undefined) return known;
    // Tests once per connection, with a query of one row, whether the server streams all rows. A query of all rows
    // would be slow as a test, because a server that does not stream first writes all rows to a file.
    const { body } = await this.#send(this.#target, { limit: 1 }, signal);
    body.destroy();
    return streams.get(this.#target.wire) ?? false;
  }

  get #context(): ErrorContext {
    return { operation: 'QueryTable', identifier: displayPath(this.#target.id) };
  }
}

/** Ends the rows at `maxBytes`, because not every server does. */
const limited = ({ maxBytes }: QuerySpec, { schema, batches }: BatchStream): BatchStream => ({
  schema,
  batches: untilBytes(batches, maxBytes, ({ data }) => data.byteLength),
});

const counted = (body: WireResponse['body'], count: (bytes: number) => void): WireResponse['body'] => ({
  destroy: () => body.destroy(),
  async *[Symbol.asyncIterator]() {
    for await (const chunk of body) {
      count(chunk.length);
      yield chunk;
    }
  },
});

const encodeRows = ({ schema, batches }: BatchStream, maxBytes: number): Promise<Uint8Array> =>
  readBytes(encodeStream(schema, batches), maxBytes, () => tooLarge(maxBytes));

const tooLarge = (maxBytes: number): CatalogError =>
  new CatalogError('InvalidInput', `The rows have more than ${maxBytes} bytes.`, 'Request fewer rows or columns.');

/**
 * Yields the batches without their first `rows` rows. In a search by several vectors, skips the first `rows` rows of
 * each vector.
 */
async function* skipping(
  rows: number,
  batches: AsyncIterable<RecordBatch>,
  hasSeveralVectors: boolean,
): AsyncGenerator<RecordBatch, void, undefined> {
  const skipped = new Map<unknown, number>();
  for await (const batch of batches) {
    // In a search by one vector, a column of this name is a column of the table.
    const index = hasSeveralVectors ? batch.getChild('query_index') : null;
    const kept: number[] = [];
    for (let row = 0; row < batch.numRows; row++) {
      const key: unknown = index?.get(row);
      const count = skipped.get(key) ?? 0;
      if (count < rows) skipped.set(key, count + 1);
      else kept.push(row);
    }
    yield* gatherRows([batch], kept);
  }
}

async function* none(): AsyncGenerator<RecordBatch, void, undefined> {}
