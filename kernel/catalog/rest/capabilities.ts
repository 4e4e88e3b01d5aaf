import { randomUUID } from 'node:crypto';
import type { Capabilities, Capability } from '#catalog/catalog.ts';
import { isReading, type Operation, operations, type ReadingOperation } from '#catalog/contract.ts';
import { isServerError } from '#catalog/transport/errors.ts';
import type { Wire, WireRequest } from '#catalog/transport/request.ts';
import { type CatalogError, type CatalogErrorKind, isCatalogError } from '#shared/errors.ts';

/** Error kinds that reveal nothing about an operation: access rights, unreachable servers, internal errors. */
const silent: ReadonlySet<CatalogErrorKind> = new Set<CatalogErrorKind>([
  'PermissionDenied',
  'Unauthenticated',
  'ServiceUnavailable',
  'Throttling',
  'Internal',
]);

/**
 * Operations with parts that a server may refuse separately (a mode, an index type, a search by many vectors): a server
 * that refuses one part may support the rest of the operation.
 */
const partly: ReadonlySet<Operation> = new Set<Operation>([
  'CreateNamespace',
  'DropNamespace',
  'CreateTable',
  'RegisterTable',
  'DescribeTable',
  'QueryTable',
  'InsertIntoTable',
  'MergeInsertIntoTable',
  'CreateTableIndex',
  'CreateTableScalarIndex',
  'AlterTableAddColumns',
  'AlterTableAlterColumns',
  'ExplainTableQueryPlan',
  'AnalyzeTableQueryPlan',
  'CreateTableBranch',
]);

/** Records which operations a server has proved to support. */
export class CapabilityLog {
  readonly #known = new Map<Operation, Capability>();
  /** Operations that have succeeded. Other entries are known only from an error. */
  readonly #done = new Set<Operation>();

  /** Returns every operation with what is known about it, else `unknown`. */
  all(): Capabilities {
    const names = Object.keys(operations) as Operation[];
    return Object.fromEntries(names.map((name) => [name, this.of(name)])) as Record<Operation, Capability>;
  }

  of(operation: Operation): Capability {
    return this.#known.get(operation) ?? 'unknown';
  }

  noteSuccess(operation: Operation): void {
    this.#done.add(operation);
    this.#known.set(operation, 'yes');
  }

  /**
   * Records what a failure shows about an operation.
   * @param isWhole whether the request had no part that a server can refuse separately
   */
  noteFailure(operation: Operation, error: CatalogError, isWhole = !partly.has(operation)): void {
    if (error.kind === 'Unsupported') {
      // If the operation has worked before, the server supports it, whatever was wrong with this request.
      const isGone = error.status === 404 || error.status === 405;
      if ((isWhole || isGone) && !this.#done.has(operation)) this.#known.set(operation, 'no');
    } else if (!silent.has(error.kind) && isServerError(error) && this.of(operation) === 'unknown') {
      this.#known.set(operation, 'yes');
    }
  }
}

/**
 * Request bodies that test whether a server has an operation. Only reading operations are tested, because a careless
 * server may change something even for a name that does not exist. Each body names a table, namespace or job with a new
 * random name, so a server that has the operation reports that the name does not exist. Operations missing here need an
 * existing name and can't be tested. Support for changes is known after their first use.
 */
const probes: { readonly [O in ReadingOperation]?: object } = {
  DescribeNamespace: {},
  NamespaceExists: {},
  DescribeTable: {},
  TableExists: {},
  CountTableRows: {},
  QueryTable: { vector: { single_vector: [] }, k: 1 },
  ListTableVersions: {},
  DescribeTableVersion: { version: 1 },
  GetTableStats: {},
  ListTableIndices: {},
  DescribeTableIndexStats: {},
  ListTableTags: {},
  GetTableTagVersion: { tag: 'none' },
  ListTableBranches: {},
  ExplainTableQueryPlan: { query: { vector: { single_vector: [] }, k: 1 } },
  AnalyzeTableQueryPlan: { vector: { single_vector: [] }, k: 1 },
  ListJobs: {},
};

/** Operations that list. They are tested on existing parents, with a limit of 1. */
const lists: ReadonlySet<Operation> = new Set<ReadingOperation>(['ListNamespaces', 'ListTables', 'ListAllTables']);

/** Statuses that end probing: the next probe would fail too, and they don't show whether an operation is supported. */
const unreachable: ReadonlySet<number> = new Set([429, 502, 503, 504]);

/**
 * Tests the given reading operations that are still unknown. Other operations stay unknown.
 * @throws CatalogError ServiceUnavailable (17) if the server can't be reached, Throttling (21) if it limits requests;
 * after other failures the operation stays unknown
 */
export async function probeCapabilities(
  wire: Wire,
  log: CapabilityLog,
  asked: readonly Operation[],
  signal: AbortSignal | undefined,
): Promise<void> {
  const name = `lance-catalog-probe-${randomUUID()}`;
  for (const operation of new Set(asked)) {
    const request = log.of(operation) === 'unknown' ? probeOf(operation, name) : undefined;
    if (request) await ask(wire, log, { ...request, signal });
  }
}

function probeOf(operation: Operation, name: string): WireRequest | undefined {
  if (lists.has(operation)) return { operation, id: [], query: { limit: 1 } };
  const json = isReading(operation) ? probes[operation] : undefined;
  if (!json) return undefined;
  const { subject } = operations[operation];
  return { operation, ...(subject !== 'none' && { id: [name] }), indexName: 'none', json };
}

async function ask(wire: Wire, log: CapabilityLog, request: WireRequest): Promise<void> {
  try {
    const { body } = await wire.send(request);
    body.destroy();
    log.noteSuccess(request.operation);
  } catch (error) {
    if (!isCatalogError(error)) throw error;
    // A failed connection has status 503.
    if (unreachable.has(error.status)) throw error;
    // A probe uses no optional parts, so a server that refuses it does not support the operation.
    if (error.kind === 'Unsupported') log.noteFailure(request.operation, error, true);
  }
}
