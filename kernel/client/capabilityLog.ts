import type { CatalogError, CatalogErrorKind } from '#shared/errors.ts';
import type { Capabilities, Capability } from './capabilities.ts';
import { operations, type Operation } from './operations.ts';
import { isToldByServer } from './transportErrors.ts';

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
