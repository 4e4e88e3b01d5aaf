import { randomUUID } from 'node:crypto';
import type { Capabilities, Capability } from '#catalog/catalog.ts';
import { type Operation, operations } from '#catalog/contract.ts';
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
 * Operations with parts that a server may refuse separately (a mode, an index type, a search by many vectors):
 * refusing one part does not mean that it refuses the whole operation.
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
  /** Operations that succeeded, unlike those known only from an error. */
  readonly #done = new Set<Operation>();

  /** All operations; `unknown` if nothing is known. */
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

  /** Learns from a failure. @param isWhole whether the request had no part that can be refused separately */
  noteFailure(operation: Operation, error: CatalogError, isWhole = !partly.has(operation)): void {
    if (error.kind === 'Unsupported') {
      // An operation that has worked before exists, whatever was wrong with this request.
      const isGone = error.status === 404 || error.status === 405;
      if ((isWhole || isGone) && !this.#done.has(operation)) this.#known.set(operation, 'no');
    } else if (!silent.has(error.kind) && isServerError(error) && this.of(operation) === 'unknown') {
      this.#known.set(operation, 'yes');
    }
  }
}

/**
 * Bodies that test an operation without changing anything. Each names a table, namespace or job with a new random
 * name, so a server that knows the operation can only report that it does not exist. Operations that a careless
 * server could apply to a missing name are left out: create, declare, register, insert, backfill.
 */
const harmless: { readonly [O in Operation]?: object } = {
  DescribeNamespace: {},
  NamespaceExists: {},
  DropNamespace: {},
  DescribeTable: {},
  TableExists: {},
  DropTable: {},
  DeregisterTable: {},
  RenameTable: { new_table_name: 'lance-catalog-probe' },
  CountTableRows: {},
  QueryTable: { vector: { single_vector: [] }, k: 1 },
  UpdateTable: { predicate: 'false', updates: [['none', '0']] },
  DeleteFromTable: { predicate: 'false' },
  ListTableVersions: {},
  DescribeTableVersion: { version: 1 },
  RestoreTable: { version: 1 },
  GetTableStats: {},
  CreateTableIndex: { column: 'none', index_type: 'BTREE' },
  CreateTableScalarIndex: { column: 'none', index_type: 'BTREE' },
  ListTableIndices: {},
  DescribeTableIndexStats: {},
  DropTableIndex: {},
  ListTableTags: {},
  GetTableTagVersion: { tag: 'none' },
  CreateTableTag: { tag: 'none', version: 1 },
  UpdateTableTag: { tag: 'none', version: 1 },
  DeleteTableTag: { tag: 'none' },
  ListTableBranches: {},
  CreateTableBranch: { name: 'none' },
  DeleteTableBranch: { name: 'none' },
  ExplainTableQueryPlan: { query: { vector: { single_vector: [] }, k: 1 } },
  AnalyzeTableQueryPlan: { vector: { single_vector: [] }, k: 1 },
  AlterTableAddColumns: { new_columns: [{ name: 'none', expression: '0' }] },
  AlterTableAlterColumns: { alterations: [{ path: 'none', rename: 'none_' }] },
  AlterTableDropColumns: { columns: ['none'] },
  UpdateTableSchemaMetadata: { none: 'none' },
  ListJobs: {},
};

/** These are tested by listing existing names, with a limit of 1. */
const lists: ReadonlySet<Operation> = new Set<Operation>(['ListNamespaces', 'ListTables', 'ListAllTables']);

/**
 * Tests operations that are still unknown with requests that change nothing.
 * @throws CatalogError ServiceUnavailable (17) and the like if the server did not answer
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
  const json = harmless[operation];
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
    const { kind, status } = error;
    if (status === 503 || status === 429) throw error;
    // No part of this request can be refused separately.
    if (kind === 'Unsupported') log.noteFailure(request.operation, error, true);
  }
}
