import { tableFromIPC, tableToIPC, Message, type RecordBatch } from '#arrow';
import { CatalogError, type ErrorContext } from '#shared/errors.ts';
import { arrowStreamMime } from '#shared/mime.ts';
import { displayPath } from '#shared/names.ts';
import type { CallOptions } from './callOptions.ts';
import { maxDecompressed, withinBudget } from './ipcCompression.ts';
import { endOfStream, ipcMessages } from './ipcMessages.ts';
import { encodeStream } from './ipcWriter.ts';
import type { QueryRunner, QuerySpec } from './querySpec.ts';
import { readBatches, readError } from './restBatches.ts';
import { firstPageRows, readPages } from './restPages.ts';
import { queryBody, isSearch, orderPreference, rowLimit, widened } from './restQueryBody.ts';
import { about, onBranch, type RestTarget } from './restTarget.ts';
import { readText } from './restText.ts';
import type { BatchStream } from './table.ts';
import type { Wire, WireResponse } from './wireRequest.ts';

/** Of each connection, whether its server answers queries by streams; one that does not makes all rows first. */
const streams = new WeakMap<Wire, boolean>();

/** Runs queries of a table on its server ("QueryTable", "ExplainTableQueryPlan", "AnalyzeTableQueryPlan"). */
export class RestQueryRunner implements QueryRunner {
  readonly #target: RestTarget;
  readonly #newestVersion: (options: CallOptions) => Promise<number | undefined>;

  /** @param newestVersion to read one version page by page; `undefined` where the server tells none */
  constructor(target: RestTarget, newestVersion: (options: CallOptions) => Promise<number | undefined>) {
    this.#target = target;
    this.#newestVersion = newestVersion;
  }

  /**
   * The rows as they come. A server that can't send a stream is asked page after page instead, all of one version, so that
   * neither side ever holds the whole result; where it tells no version, what others write meanwhile may show.
   */
  run(spec: QuerySpec, signal?: AbortSignal): Promise<BatchStream> {
    return about(this.#target, 'QueryTable', async () => {
      const limit = rowLimit(spec);
      const isLong = limit === undefined || limit > firstPageRows;
      if (isSearch(spec) || spec.orderBy || !isLong || (await this.#sendsStreams(signal))) {
        const { asked, skip } = widened(spec);
        const { schema, batches } = await this.#read(this.#target, asked, signal);
        return { schema, batches: skip > 0 ? skipping(skip, batches) : batches };
      }
      const version = this.#target.version ?? (await this.#newestVersion({ signal }));
      const target = { ...this.#target, version };
      return readPages(this.#target.wire, spec, (page, count) => this.#read(target, page, signal, count));
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
   * The rows as the bytes of one uncompressed Arrow IPC stream, for whoever passes them on without decoding them.
   * @throws CatalogError InvalidInput (13) for more than `maxBytes`
   */
  bytes(spec: QuerySpec, maxBytes: number, signal?: AbortSignal): Promise<Uint8Array> {
    return about(this.#target, 'QueryTable', async () => {
      if (widened(spec).skip > 0) {
        const { schema, batches } = await this.run(spec, signal);
        return joined(encodeStream(schema, batches), maxBytes);
      }
      const { body } = await this.#send(this.#target, spec, signal);
      const parts: Uint8Array[] = [];
      let total = 0;
      let isCompressed = false;
      try {
        for await (const { kind, bytes } of ipcMessages(body)) {
          if (kind === 'batch' && spec.limit === 0) break;
          total += bytes.length;
          if (total > maxBytes) throw tooLarge(maxBytes);
          isCompressed ||= hasCompression(kind, bytes);
          parts.push(bytes);
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
          withinBudget(maxDecompressed, () => tableFromIPC(stream)),
          'stream',
        );
      } catch (error) {
        throw readError(this.#target.wire, error, this.#context, signal);
      }
    });
  }

  async #read(
    target: RestTarget,
    spec: QuerySpec,
    signal: AbortSignal | undefined,
    count?: (bytes: number) => void,
  ): Promise<BatchStream> {
    const response = await this.#send(target, spec, signal);
    const { body } = response;
    const answer = count ? { ...response, body: counted(body, count) } : response;
    const { schema, batches } = await readBatches(target.wire, answer, this.#context, signal);
    if (spec.limit !== 0) return { schema, batches };
    body.destroy();
    return { schema, batches: none() };
  }

  async #send(target: RestTarget, spec: QuerySpec, signal: AbortSignal | undefined): Promise<WireResponse> {
    const { wire, id } = target;
    const response = await wire.send({
      operation: 'QueryTable',
      id,
      json: queryBody(target, spec),
      accept: arrowStreamMime,
      ...(spec.orderBy && { prefer: orderPreference }),
      signal,
    });
    streams.set(wire, response.contentType.startsWith(arrowStreamMime));
    if (!spec.orderBy || response.applied.includes(orderPreference)) return response;
    response.body.destroy();
    throw new CatalogError('Unsupported', `${wire.name} can't sort rows.`, 'Leave the order out, and sort what comes.');
  }

  async #sendsStreams(signal: AbortSignal | undefined): Promise<boolean> {
    const known = streams.get(this.#target.wire);
    if (known !== undefined) return known;
    // The question costs one row, once in a connection; asked for everything, such a server would first make a file of it.
    const { body } = await this.#send(this.#target, { limit: 1 }, signal);
    body.destroy();
    return streams.get(this.#target.wire) ?? false;
  }

  get #context(): ErrorContext {
    return { operation: 'QueryTable', identifier: displayPath(this.#target.id) };
  }
}

/** A body that tells how many bytes of it have come. */
const counted = (body: WireResponse['body'], count: (bytes: number) => void): WireResponse['body'] => ({
  destroy: () => body.destroy(),
  async *[Symbol.asyncIterator]() {
    for await (const chunk of body) {
      count(chunk.length);
      yield chunk;
    }
  },
});

const tooLarge = (maxBytes: number): CatalogError =>
  new CatalogError('InvalidInput', `The rows are over ${maxBytes} bytes.`, 'Ask for fewer rows or columns.');

async function joined(chunks: AsyncIterable<Uint8Array>, maxBytes: number): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  let total = 0;
  for await (const chunk of chunks) {
    total += chunk.length;
    if (total > maxBytes) throw tooLarge(maxBytes);
    parts.push(chunk);
  }
  return Buffer.concat(parts);
}

/** The batches without their first rows. */
async function* skipping(
  rows: number,
  batches: AsyncIterable<RecordBatch>,
): AsyncGenerator<RecordBatch, void, undefined> {
  let left = rows;
  for await (const batch of batches) {
    const gone = Math.min(left, batch.numRows);
    left -= gone;
    if (gone < batch.numRows) yield gone === 0 ? batch : batch.slice(gone);
  }
}

async function* none(): AsyncGenerator<RecordBatch, void, undefined> {}

/** Whether the buffers of a message are compressed. */
function hasCompression(kind: 'schema' | 'dictionary' | 'batch', bytes: Uint8Array): boolean {
  if (kind === 'schema') return false;
  const length = new DataView(bytes.buffer, bytes.byteOffset).getInt32(4, true);
  const message = Message.decode(bytes.subarray(8, 8 + length));
  const header: unknown = message.isDictionaryBatch() ? message.header().data : message.header();
  return typeof header === 'object' && header !== null && 'compression' in header && header.compression !== null;
}
