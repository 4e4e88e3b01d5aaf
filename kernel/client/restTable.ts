import { RecordBatchReader, tableToIPC, type RecordBatch, type Schema, type Table as ArrowTable } from '#arrow';
import { CatalogError, isAbort, isCatalogError } from '#shared/errors.ts';
import { arrowStreamMime } from '#shared/mime.ts';
import { isRecord } from '#shared/records.ts';
import { encodeId, type NamespacePath } from '#shared/names.ts';
import type { CallOptions } from './callOptions.ts';
import type { DistanceType, QuerySpec } from './querySpec.ts';
import type { Table, VersionInfo } from './table.ts';
import type { TableData } from './tableSource.ts';
import { checkChoice, checkOptions } from './options.ts';
import { checkFilter, Query } from './query.ts';
import { toArrowTable } from './tableData.ts';
import type { Transport, WireResponse } from './transport.ts';
import { noLimit } from './wire.ts';

/** A table on a server: control and rows both travel over HTTP, the storage behind it is never touched from here. */
export class RestTable implements Table {
  readonly name: string;
  readonly namespacePath: NamespacePath;
  readonly #transport: Transport;
  readonly #version: number | undefined;
  readonly #path: string;

  constructor(transport: Transport, name: string, namespacePath: NamespacePath, version?: number) {
    this.#transport = transport;
    this.name = name;
    this.namespacePath = namespacePath;
    this.#version = version;
    this.#path = `/v1/table/${encodeURIComponent(encodeId(namespacePath, name))}`;
  }

  async schema(options: CallOptions = {}): Promise<Schema> {
    // Not from describe, whose JSON form knows no units of time and no zones.
    const { schema, batches } = await this.#run({ limit: 0 }, options.signal);
    for await (const batch of batches) void batch;
    return schema;
  }

  async version(options: CallOptions = {}): Promise<number> {
    const body = await this.#transport.json({
      method: 'POST',
      path: `${this.#path}/describe`,
      query: { load_detailed_metadata: 'true' },
      json: { ...this.#pinned() },
      signal: options.signal,
    });
    const version = field(body, 'version');
    if (typeof version !== 'number') throw this.#transport.unexpected('a table without a version');
    return version;
  }

  async countRows(filter?: string, options: CallOptions = {}): Promise<number> {
    if (filter !== undefined) checkFilter(filter);
    const body = await this.#transport.json({
      method: 'POST',
      path: `${this.#path}/count_rows`,
      json: { ...this.#pinned(), ...(filter !== undefined && { predicate: filter }) },
      signal: options.signal,
    });
    if (typeof body !== 'number') throw this.#transport.unexpected('a count that is no number');
    return body;
  }

  query(): Query {
    return new Query((spec, signal) => this.#run(spec, signal));
  }

  vectorSearch(vector: ArrayLike<number>, options?: { column?: string; distanceType?: DistanceType }): Query {
    return this.query().nearestTo(vector, options);
  }

  async add(data: TableData, options: CallOptions & { mode?: 'append' | 'overwrite' | undefined } = {}): Promise<void> {
    checkOptions('add', options, ['mode', 'signal']);
    const mode = checkChoice('add', 'mode', options.mode, ['append', 'overwrite']) ?? 'append';
    this.#mustBeNewest();
    const schema = Array.isArray(data) ? await this.schema(options) : undefined;
    await this.#transport.json({
      method: 'POST',
      path: `${this.#path}/insert`,
      query: { mode },
      arrow: tableToIPC(toArrowTable('add', data, schema), 'stream'),
      signal: options.signal,
    });
  }

  async delete(predicate: string, options: CallOptions = {}): Promise<void> {
    checkFilter(predicate);
    this.#mustBeNewest();
    await this.#transport.json({
      method: 'POST',
      path: `${this.#path}/delete`,
      json: { predicate },
      signal: options.signal,
    });
  }

  async listVersions(options: CallOptions = {}): Promise<VersionInfo[]> {
    const versions: VersionInfo[] = [];
    const seen = new Set<string>();
    let pageToken: string | undefined;
    do {
      const body = await this.#transport.json({
        method: 'POST',
        path: `${this.#path}/version/list`,
        query: { page_token: pageToken },
        json: {},
        signal: options.signal,
      });
      const page = field(body, 'versions');
      if (!Array.isArray(page)) throw this.#transport.unexpected('no list of versions');
      for (const item of page) versions.push(this.#versionOf(item));
      const next = field(body, 'page_token');
      pageToken = typeof next === 'string' && next !== '' && !seen.has(next) ? next : undefined;
      if (pageToken !== undefined) seen.add(pageToken);
    } while (pageToken !== undefined);
    return versions.toSorted((a, b) => a.version - b.version);
  }

  toArrow(options: CallOptions = {}): Promise<ArrowTable> {
    return this.query().toArrow(options);
  }

  /**
   * The rows of a query as the bytes of an Arrow IPC stream, for whoever passes them on without decoding them.
   * @throws CatalogError InvalidInput (13) for more than `maxBytes`
   */
  async queryIpc(spec: QuerySpec, options: CallOptions & { maxBytes?: number } = {}): Promise<Uint8Array> {
    const { maxBytes = 256 * 1024 * 1024, signal } = options;
    const { body } = await this.#query(spec, signal);
    const chunks: Uint8Array[] = [];
    let total = 0;
    for await (const chunk of body) {
      total += chunk.length;
      if (total > maxBytes) {
        throw new CatalogError(
          'InvalidInput',
          `The rows are over ${maxBytes} bytes.`,
          'Ask for fewer rows or columns.',
        );
      }
      chunks.push(chunk);
    }
    return Buffer.concat(chunks);
  }

  async #run(spec: QuerySpec, signal?: AbortSignal): Promise<{ schema: Schema; batches: AsyncIterable<RecordBatch> }> {
    const { body } = await this.#query(spec, signal);
    try {
      const reader = await RecordBatchReader.from(body);
      await reader.open({ autoDestroy: false });
      return { schema: reader.schema, batches: this.#batches(reader, body, signal) };
    } catch (error) {
      body.destroy();
      throw this.#broken(error, signal);
    }
  }

  async *#batches(
    reader: AsyncIterable<RecordBatch>,
    body: WireResponse['body'],
    signal: AbortSignal | undefined,
  ): AsyncGenerator<RecordBatch> {
    try {
      for await (const batch of reader) {
        signal?.throwIfAborted();
        if (batch.numRows > 0) yield batch;
      }
    } catch (error) {
      throw this.#broken(error, signal);
    } finally {
      // Also when the reader of the batches stops early: the server stops the scan then.
      body.destroy();
    }
  }

  #broken(error: unknown, signal: AbortSignal | undefined): Error {
    if (signal?.aborted) return signal.reason;
    if (isCatalogError(error)) return error;
    return isAbort(error) ? error : this.#transport.unexpected('rows that are no Arrow stream', error);
  }

  #query(spec: QuerySpec, signal?: AbortSignal): Promise<WireResponse> {
    const { columns, filter, limit, offset, vector } = spec;
    return this.#transport.send({
      method: 'POST',
      path: `${this.#path}/query`,
      accept: arrowStreamMime,
      json: {
        ...this.#pinned(),
        // Both are required: an empty vector means a plain scan. A search gives 10 rows unless told otherwise.
        vector: { single_vector: vector?.values ?? [] },
        k: limit ?? (vector ? 10 : noLimit),
        ...(columns && { columns: { column_names: columns } }),
        ...(filter !== undefined && { filter }),
        ...(offset !== undefined && { offset }),
        ...(vector?.column !== undefined && { vector_column: vector.column }),
        ...(vector?.distanceType && { distance_type: vector.distanceType }),
      },
      signal,
    });
  }

  #pinned(): { version?: number } {
    return this.#version === undefined ? {} : { version: this.#version };
  }

  #mustBeNewest(): void {
    if (this.#version === undefined) return;
    throw new CatalogError(
      'InvalidTableState',
      `Table "${[...this.namespacePath, this.name].join('/')}" was opened at a version and can't be changed there.`,
      'Open it without a version to write.',
    );
  }

  #versionOf(item: unknown): VersionInfo {
    const version = field(item, 'version');
    const time = field(item, 'timestamp_millis');
    if (typeof version !== 'number') throw this.#transport.unexpected('a version without a number');
    return { version, timestamp: new Date(typeof time === 'number' ? time : Number.NaN) };
  }
}

/** A field of a JSON object that came from a wire. */
export const field = (body: unknown, name: string): unknown => (isRecord(body) ? body[name] : undefined);
