import type { Connection, Table as NativeTable, Query as NativeQuery, VectorQuery } from '@lancedb/lancedb';
import type { RecordBatch, Schema, Table as ArrowTable } from '#arrow';
import { isCatalogError } from '#shared/errors.ts';
import type { NamespacePath } from '#shared/names.ts';
import { checkChoice, checkOptions, checkVersion } from '#client/options.ts';
import { checkFilter, Query } from '#client/query.ts';
import { toArrowTable } from '#client/tableData.ts';
import type { CallOptions } from '#client/callOptions.ts';
import type { DistanceType, QuerySpec } from '#client/querySpec.ts';
import type { Table, VersionInfo } from '#client/table.ts';
import type { TableData } from '#client/tableSource.ts';
import { engineError, guarded, tableSubject, type Subject } from './engineErrors.ts';

/** A table of a directory, on the engine's own handle. */
export class DirTable implements Table {
  readonly name: string;
  readonly namespacePath: NamespacePath;
  readonly #native: NativeTable;
  readonly #subject: Subject;
  /** Calls of the handle that have not come back, also those that an abort has left behind. */
  readonly #running = new Set<Promise<unknown>>();

  constructor(native: NativeTable, name: string, namespacePath: NamespacePath, version?: number) {
    this.#native = native;
    this.name = name;
    this.namespacePath = namespacePath;
    this.#subject = tableSubject(name, namespacePath, version);
  }

  schema(options: CallOptions = {}): Promise<Schema> {
    return this.#call(options, () => this.#native.schema());
  }

  version(options: CallOptions = {}): Promise<number> {
    return this.#call(options, () => this.#native.version());
  }

  async countRows(filter?: string, options: CallOptions = {}): Promise<number> {
    if (filter !== undefined) checkFilter(filter);
    return this.#call(options, () => this.#native.countRows(filter), filter);
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
    const schema = Array.isArray(data) ? await this.schema(options) : undefined;
    const table = toArrowTable('add', data, schema);
    await this.#call(options, () => this.#native.add(table, { mode }));
  }

  async delete(predicate: string, options: CallOptions = {}): Promise<void> {
    checkFilter(predicate);
    await this.#call(options, () => this.#native.delete(predicate), predicate);
  }

  async listVersions(options: CallOptions = {}): Promise<VersionInfo[]> {
    const versions = await this.#call(options, () => this.#native.listVersions());
    return versions.map(({ version, timestamp }) => ({ version, timestamp }));
  }

  toArrow(options: CallOptions = {}): Promise<ArrowTable> {
    return this.query().toArrow(options);
  }

  /**
   * The rows of a query as the engine's own Arrow IPC buffers, one file with one batch each, for whoever passes them on
   * without looking inside; the schema beside them.
   */
  async executeIpc(
    spec: QuerySpec,
    signal?: AbortSignal,
  ): Promise<{ schema: Schema; buffers: AsyncIterable<Uint8Array> } | undefined> {
    // One query for both: each holds the table in memory until it is collected.
    const built = this.#build(spec);
    const query = built as unknown as { nativeExecute?: () => Promise<{ next(): Promise<Buffer | null> }> };
    // Not public, so it may be gone one day; then the caller takes the decoded batches.
    if (typeof query.nativeExecute !== 'function') return undefined;
    const schema = await this.#call({ signal }, () => built.outputSchema(), spec.filter);
    const buffers = await this.#call({ signal }, () => query.nativeExecute!());
    const call = <T>(work: () => Promise<T>): Promise<T> => this.#call({ signal }, work);
    return {
      schema,
      buffers: (async function* () {
        for (let buffer = await call(() => buffers.next()); buffer; buffer = await call(() => buffers.next()))
          yield buffer;
      })(),
    };
  }

  /** Lets go of the engine's handle once it is idle: one that is closed under a call takes its memory away from it. */
  close(): void {
    void Promise.allSettled(this.#running).then(() => this.#native.close());
  }

  async #run(spec: QuerySpec, signal?: AbortSignal): Promise<{ schema: Schema; batches: AsyncIterable<RecordBatch> }> {
    const query = this.#build(spec);
    const schema = await this.#call({ signal }, () => query.outputSchema(), spec.filter);
    return { schema, batches: this.#batches(query, signal) };
  }

  async *#batches(query: NativeQuery | VectorQuery, signal?: AbortSignal): AsyncGenerator<RecordBatch> {
    signal?.throwIfAborted();
    const batches = query[Symbol.asyncIterator]();
    for (;;) {
      const next = await this.#call({ signal }, () => batches.next());
      if (next.done) return;
      yield next.value;
    }
  }

  #build(spec: QuerySpec): NativeQuery | VectorQuery {
    try {
      let query: NativeQuery | VectorQuery = this.#native.query();
      if (spec.vector) {
        query = query.nearestTo([...spec.vector.values]);
        if (spec.vector.column !== undefined) query = query.column(spec.vector.column);
        if (spec.vector.distanceType) query = query.distanceType(spec.vector.distanceType);
      }
      if (spec.columns) query.select(withDistance(spec.columns, spec.vector !== undefined));
      if (spec.filter !== undefined) query.where(spec.filter);
      if (spec.limit !== undefined) query.limit(spec.limit);
      if (spec.offset !== undefined) query.offset(spec.offset);
      return query;
    } catch (error) {
      throw engineError(error, this.#subject);
    }
  }

  /** What is wrong with a query is told with what the table has instead, which the engine's text may leave out. */
  async #explained<T>(call: () => Promise<T>, filter: string | undefined): Promise<T> {
    try {
      return await call();
    } catch (error) {
      const told = engineError(error, this.#subject);
      if (!isCatalogError(told, 'ColumnNotFound') && !isCatalogError(told, 'InvalidInput')) throw told;
      const schema = await this.#native.schema().catch(() => undefined);
      throw engineError(error, { ...this.#subject, fields: schema?.fields, filter });
    }
  }

  #call<T>(options: CallOptions, call: () => Promise<T>, filter?: string): Promise<T> {
    return guarded(this.#subject, options.signal, () => {
      const running = this.#explained(call, filter);
      this.#running.add(running);
      const settled = () => this.#running.delete(running);
      running.then(settled, settled);
      return running;
    });
  }
}

/** The distance of a vector search is part of its result, whatever columns are asked for. */
const withDistance = (columns: readonly string[], isSearch: boolean): string[] =>
  isSearch && !columns.includes('_distance') ? [...columns, '_distance'] : [...columns];

/** Opens a table on a connection of the engine. */
export async function openNative(
  connection: Connection,
  name: string,
  namespacePath: NamespacePath,
  options: CallOptions & { version?: number | undefined },
): Promise<DirTable> {
  const version = checkVersion('openTable', options.version);
  let opening: Promise<NativeTable> | undefined;
  try {
    const native = await guarded(tableSubject(name, namespacePath, version), options.signal, () => {
      opening = connection.openTable(name, [...namespacePath], version === undefined ? {} : { version });
      return opening;
    });
    return new DirTable(native, name, namespacePath, version);
  } catch (error) {
    // After an abort it opens all the same, for nobody.
    opening?.then(
      (late) => late.close(),
      () => undefined,
    );
    throw error;
  }
}
