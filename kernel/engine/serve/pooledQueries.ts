import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { EngineProcess } from '#catalog/engineProcess.ts';
import { isReading, type Operation } from '#catalog/contract.ts';
import { dataBytes } from '#engine/pool/dataBytes.ts';
import { QueryPool } from '#engine/pool/queryPool.ts';
import type { Streamed } from '#engine/server/reply.ts';
import { specificationBody } from '#engine/server/remoteDialect.ts';
import type { ForwardableCall } from '#engine/server/server.ts';
import { bundleFile } from '#processes/bundleFile.ts';
import { thisNode } from '#processes/childProcess.ts';
import { isCatalogError, messageOf } from '#shared/errors.ts';
import { displayPath } from '#shared/names.ts';
import { isRecord } from '#shared/records.ts';
import type { Caller } from './authorizer.ts';
import type { Log } from './log.ts';
import type { Metrics } from './metrics.ts';
import type { ServeLimits } from './options.ts';

type Json = Readonly<Record<string, unknown>>;

type PooledQueriesOptions = {
  limits: ServeLimits;
  /** Whether several keys share the processes. */
  hasManyKeys: boolean;
  storageOptions: Record<string, string> | undefined;
  /** Returns the caller of a request that has passed the gate. */
  callerOf: (request: IncomingMessage) => Caller;
  metrics: Metrics;
  log: Log;
};

const isEmpty = (value: unknown): boolean =>
  value === undefined ||
  value === null ||
  value === '' ||
  (Array.isArray(value) && value.length === 0) ||
  (isRecord(value) && Object.values(value).every(isEmpty));

/** Whether a query has SQL, text to search, a vector or an order. A query for a page of rows has none of these. */
const isCostly = ({ filter, columns, vector, full_text_query: text, order_by: order }: Json): boolean =>
  ![filter, vector, text, order, isRecord(columns) ? columns['column_aliases'] : undefined].every(isEmpty);

/**
 * Decides by the JSON body, in the form of the specification, whether a request runs in the pool. All other requests
 * run in the server's own process.
 */
const pooledByBody: { readonly [K in Operation]?: (body: Json) => boolean } = {
  QueryTable: isCostly,
  CountTableRows: ({ predicate }) => !isEmpty(predicate),
  ExplainTableQueryPlan: () => true,
  AnalyzeTableQueryPlan: () => true,
  UpdateTable: () => true,
  DeleteFromTable: () => true,
  AlterTableAddColumns: () => true,
};

/** Parameters of "MergeInsertIntoTable" that contain SQL. */
const mergeConditions = ['when_matched_update_all_filt', 'when_not_matched_by_source_delete_filt'] as const;

/** Milliseconds that a request waits for a process. After that time its client should try again. */
const waitTime = 20_000;

const passedHeaders = ['content-type', 'accept', 'prefer'] as const;

/**
 * Runs requests with SQL, text to search or a vector in a pool of processes, so that none of them can end the server or
 * keep it busy.
 */
export class PooledQueries {
  readonly #options: PooledQueriesOptions;
  readonly #pool: QueryPool<EngineProcess>;

  constructor(options: PooledQueriesOptions) {
    this.#options = options;
    const { limits, hasManyKeys, metrics, log } = options;
    const { queryProcesses, queryMemory } = limits;
    this.#pool = new QueryPool({
      start: (signal) => this.#start(signal),
      processes: queryProcesses,
      processesPerOwner: Math.max(1, queryProcesses - (hasManyKeys ? 2 : 1)),
      waitTime,
      // `queryMemory` is about half of the real limit, because that limit also counts what Node reserves.
      isFull: ({ pid }) => (dataBytes(pid) ?? 0) > queryMemory,
      onStopped: (reason, cause) => {
        metrics.stopQuery(reason);
        log('warn', 'query_stopped', { reason, problem: messageOf(cause) });
      },
      onNotStarted: (cause) => log('error', 'query_process_not_started', { problem: messageOf(cause) }),
    });
  }

  /**
   * Runs a request in the pool. Returns `undefined` if it should run in this process.
   * @throws CatalogError of the request, ServiceUnavailable (17) if it was stopped; AbortError
   */
  async run(call: ForwardableCall): Promise<Streamed | undefined> {
    const { operation, query, body, signal } = call;
    if (operation === 'MergeInsertIntoTable') {
      const hasSql = mergeConditions.some((name) => query.getAll(name).some((text) => text !== ''));
      return hasSql ? this.#forward(call, body.arrowBytes(), undefined) : undefined;
    }
    if (operation === 'AlterTableBackfillColumns') {
      await this.#tryCondition(call, await body.json());
      return undefined;
    }
    const isPooled = pooledByBody[operation];
    // Columns that are added by an Arrow stream have no SQL.
    if (!isPooled || body.isArrow) return undefined;
    const json = specificationBody(call, await body.json());
    signal.throwIfAborted();
    return isPooled(json) ? this.#forward(call, body.jsonBytes(), kindOf(json, body.jsonBytes())) : undefined;
  }

  close(): Promise<void> {
    return this.#pool.close();
  }

  #forward(
    { request, url, operation, signal }: ForwardableCall,
    body: Uint8Array | AsyncIterable<Uint8Array>,
    kind: string | Uint8Array | undefined,
    path = url,
  ): Promise<Streamed> {
    const { callerOf, storageOptions, limits } = this.#options;
    const { key, database, namespacePath } = callerOf(request);
    const { root } = database;
    const headers: Record<string, string> = {};
    for (const name of passedHeaders) {
      const value = request.headers[name];
      if (value !== undefined) headers[name] = String(value);
    }
    return this.#pool.run(
      {
        method: request.method ?? 'POST',
        path,
        headers,
        body,
        config: { root, ...(storageOptions && { storageOptions }) },
        namespacePath,
        owner: key.name,
        ...(kind !== undefined && {
          sameAs: labelOf(`${operation}\n${root}\n${displayPath(namespacePath)}\n${path}\n`, kind),
        }),
        time: isReading(operation) ? limits.queryTime : limits.writeTime,
      },
      signal,
    );
  }

  /**
   * Plans the condition of a backfill in the pool, before the job checks the condition in this process. A condition
   * that would end this process then ends only a process of the pool, and the request is refused. Other errors are left
   * to the job.
   */
  async #tryCondition(call: ForwardableCall, { where, read_version: version }: Json): Promise<void> {
    if (isEmpty(where)) return;
    const plan = { query: { vector: {}, k: 1, filter: where, ...(!isEmpty(version) && { version }) } };
    const path = call.url.replace(/\/backfill_column(?=\/?(?:\?|$))/, '/explain_plan');
    try {
      const explain = { ...call, operation: 'ExplainTableQueryPlan' as const };
      const body = Buffer.from(JSON.stringify(plan));
      const planned = await this.#forward(explain, body, body, path);
      while (!(await planned.chunks.next()).done);
    } catch (error) {
      if (!isCatalogError(error) || error.kind === 'ServiceUnavailable') throw error;
    }
  }

  #start(signal: AbortSignal): Promise<EngineProcess> {
    return EngineProcess.start({
      entry: bundleFile('engine.cjs'),
      node: thisNode(),
      memoryLimit: this.#options.limits.queryMemory,
      // glibc keeps freed memory in pools. Without a limit there is a pool for each thread.
      env: { MALLOC_ARENA_MAX: process.env['MALLOC_ARENA_MAX'] ?? '2' },
      signal,
    });
  }
}

const labelOf = (start: string, kind: string | Uint8Array): string =>
  createHash('sha256').update(start).update(kind).digest('base64');

/**
 * Returns the same value for requests of the same cost: the values of a vector do not matter, only how many there are.
 */
function kindOf({ vector, ...rest }: Json, bytes: Uint8Array): string | Uint8Array {
  if (isEmpty(vector)) return bytes;
  const values = isRecord(vector) ? Object.entries(vector) : [];
  const sizes = values.map(([name, value]) => [name, Array.isArray(value) ? value.length : value]);
  return JSON.stringify([rest, sizes]);
}
