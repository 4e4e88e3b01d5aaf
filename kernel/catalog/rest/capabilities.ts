import { randomUUID } from 'node:crypto';
import type { Capabilities, Capability } from '#catalog/catalog.ts';
import { type Operation, operations } from '#catalog/contract.ts';
import { isToldByServer } from '#catalog/transport/errors.ts';
import type { Wire, WireRequest } from '#catalog/transport/request.ts';
import { type CatalogError, type CatalogErrorKind, isCatalogError } from '#shared/errors.ts';

/** Kinds that say nothing of an operation: who may ask, whether anybody answers, and what nobody foresaw. */
const silent: ReadonlySet<CatalogErrorKind> = new Set<CatalogErrorKind>([
  'PermissionDenied',
  'Unauthenticated',
  'ServiceUnavailable',
  'Throttling',
  'Internal',
]);

/**
 * Operations with parts that a server may refuse by themselves (a mode, a kind of index, a search by many vectors): that
 * it does not do one of them does not mean that it does nothing.
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

/** What a server has shown that it can do. */
export class CapabilityLog {
  readonly #known = new Map<Operation, Capability>();
  /** What has been done, and not only refused by its name. */
  readonly #done = new Set<Operation>();

  /** Everything that is known, and `unknown` for the rest. */
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

  /** Learns from a failure; `isWhole` when what was asked has no part that may be refused by itself. */
  noteFailure(operation: Operation, error: CatalogError, isWhole = !partly.has(operation)): void {
    if (error.kind === 'Unsupported') {
      // What has worked before is there, whatever was wrong with this request.
      const isGone = error.status === 404 || error.status === 405;
      if ((isWhole || isGone) && !this.#done.has(operation)) this.#known.set(operation, 'no');
    } else if (!silent.has(error.kind) && isToldByServer(error) && this.of(operation) === 'unknown') {
      this.#known.set(operation, 'yes');
    }
  }
}

/**
 * The body that asks for an operation without doing anything: each is about a table, a namespace or a job of a name that
 * was made up a moment ago, so a server that knows the operation can only say that there is none. What could make
 * something of a missing name, were a server careless, is not here: to create, declare, register, insert, or backfill.
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

/** Of these the names that there are are asked for, a single one of each. */
const lists: ReadonlySet<Operation> = new Set<Operation>(['ListNamespaces', 'ListTables', 'ListAllTables']);

/**
 * Finds out about operations that are still unknown, by requests that change nothing.
 * @throws CatalogError ServiceUnavailable (17) and its like, where the server did not answer at all
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
    // Nothing of this request can be refused by itself.
    if (kind === 'Unsupported') log.noteFailure(request.operation, error, true);
  }
}
