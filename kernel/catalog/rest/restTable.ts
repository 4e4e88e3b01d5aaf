import type { Schema, Table as ArrowTable } from '#arrow';
import { type CallOptions, checkChoice, checkOptions } from '#catalog/arguments/options.ts';
import { isBatchSource, closeSourceAfter } from '#catalog/arrow/batchSource.ts';
import { type BackfillJob, type TableBackfillOptions, type TableTrial } from '#catalog/backfill.ts';
import type { Operation } from '#catalog/contract.ts';
import { defaultIndexType, indexOptions } from '#catalog/table/indexes.ts';
import type { BackfillColumnOptions } from '#catalog/jobs.ts';
import type { FullTextQuery } from '#catalog/query/fullTextQuery.ts';
import { hybridRunner } from '#catalog/query/hybridSearch.ts';
import { closedTable, LanceDbTable, type TablePin } from '#catalog/lancedb/lanceDbTable.ts';
import { mergeColumns, MergeInsert } from '#catalog/table/mergeInsert.ts';
import { checkFilter, Query } from '#catalog/query/query.ts';
import { setUnenforcedPrimaryKey } from '#catalog/table/primaryKey.ts';
import { waitForIndex } from '#catalog/table/waitForIndex.ts';
import { reportProgress } from '#catalog/table/writeProgress.ts';
import type { OptimizeOptions, OptimizeResult } from '#catalog/table/optimize.ts';
import type { FullTextOptions, QueryOptions, QueryRunner, QuerySpec } from '#catalog/query/querySpec.ts';
import type {
  AddOptions,
  ColumnChange,
  ColumnsSql,
  ComputedColumns,
  CreateIndexOptions,
  FieldMetadataUpdate,
  IndexInfo,
  IndexStats,
  NewColumns,
  Table,
  TableStats,
  TextToken,
  UpdateOptions,
  UpdateSpec,
  VersionInfo,
} from '#catalog/table/table.ts';
import { tableBackfills } from '#catalog/table/tableBackfills.ts';
import type { TableViewOptions } from '#catalog/table/tableViewOptions.ts';
import { viewTable } from '#catalog/table/tableViews.ts';
import type { TableSource } from '#catalog/table/tableData.ts';
import { recordMovedTable } from '#catalog/tableReference.ts';
import type { Branches, Tags } from '#catalog/table/tagsBranches.ts';
import { takeOffsets, takeRowIds, type TakeQuery } from '#catalog/query/takeQuery.ts';
import type {
  DeleteResult,
  InsertResult,
  RefreshResult,
  UpdateResult,
  WriteResult,
} from '#catalog/table/writeResults.ts';
import { CatalogError, isCatalogError } from '#shared/errors.ts';
import type { BackfillPlan } from '#shared/jobs/jobPlan.ts';
import { displayPath, type NamespacePath } from '#shared/names.ts';
import type { Wire } from '#catalog/transport/request.ts';
import {
  addColumns,
  alterColumns,
  backfillColumn,
  dropColumns,
  updateFieldMetadata,
  updateSchemaMetadata,
} from './columns.ts';
import { createIndex, dropIndex, indexStats, listIndices } from './indexes.ts';
import { openTarget } from './openTarget.ts';
import { optimize } from './optimize.ts';
import { RestQueryRunner } from './query.ts';
import { schemaOfTable, withRows } from './rows.ts';
import { about, checkWritable, countRows, type RestTarget } from './target.ts';
import { currentVersion, listVersions, RestBranches, restore, RestTags, stats, versionTime } from './versions.ts';
import { deleteRows, insert, mergeInsert, update } from './writes.ts';

/**
 * A table on a server: requests and rows travel over HTTP; this process never reads the storage behind the server.
 */
export class RestTable extends LanceDbTable implements Table {
  readonly name: string;
  readonly namespacePath: NamespacePath;
  #target: RestTarget;
  #runner: RestQueryRunner;

  constructor(target: RestTarget) {
    super();
    this.name = target.id.at(-1) ?? '';
    this.namespacePath = target.id.slice(0, -1);
    this.#target = target;
    this.#runner = queryRunner(target);
  }

  schema(options: CallOptions = {}): Promise<Schema> {
    return this.#schema('DescribeTable', options);
  }

  async version(options: CallOptions = {}): Promise<number> {
    const version = await currentVersion(this.#target, options);
    if (version !== undefined) return version;
    return about(this.#target, 'DescribeTable', () => {
      throw this.#target.wire.unexpected('a table without a version');
    });
  }

  async countRows(filter?: string, { signal }: CallOptions = {}): Promise<number> {
    if (filter !== undefined) await about(this.#target, 'CountTableRows', () => checkFilter(filter));
    return withRows(this.#target, { signal }, () => countRows(this.#target, filter, { signal }));
  }

  /** Runs queries of the version that is checked out when the query starts. */
  get #current(): QueryRunner {
    return {
      run: (spec, signal) => withRows(this.#target, { signal }, () => this.#runner.run(spec, signal), spec),
      explainPlan: (spec, options) => this.#runner.explainPlan(spec, options),
      analyzePlan: (spec, options) => this.#runner.analyzePlan(spec, options),
    };
  }

  query(): Query {
    return new Query(hybridRunner(this.#current));
  }

  vectorSearch(vector: ArrayLike<number> | readonly ArrayLike<number>[], options?: QueryOptions): Query {
    return this.query().nearestTo(vector, options);
  }

  fullTextSearch(query: string | FullTextQuery, options?: FullTextOptions): Query {
    return this.query().fullTextSearch(query, options);
  }

  takeRowIds(rowIds: readonly (bigint | number)[]): TakeQuery {
    return takeRowIds(this.#current, rowIds);
  }

  takeOffsets(offsets: readonly (bigint | number)[]): TakeQuery {
    return takeOffsets(this.#current, offsets);
  }

  toArrow(options: CallOptions = {}): Promise<ArrowTable> {
    return this.query().toArrow(options);
  }

  /**
   * Returns the rows of a query as an uncompressed Arrow IPC stream, for callers that forward them without decoding.
   * @throws CatalogError InvalidInput (13) for more than `maxBytes` (default: 256 MiB)
   */
  queryIpc(spec: QuerySpec, options: CallOptions & { maxBytes?: number } = {}): Promise<Uint8Array> {
    const { maxBytes = 256 * 1024 * 1024, signal } = options;
    return withRows(this.#target, options, () => this.#runner.queryIpc(spec, maxBytes, signal), spec);
  }

  /** Returns when the version of this table was written, in milliseconds; undefined if the server does not report it. */
  versionTime(options: CallOptions = {}): Promise<number | undefined> {
    return versionTime(this.#target, options);
  }

  async add(data: TableSource, options: AddOptions = {}): Promise<InsertResult> {
    const target = this.#target;
    const add = async () => {
      checkOptions('add', options, ['mode', 'progress', 'signal']);
      const mode = checkChoice('add', 'mode', options.mode, ['append', 'overwrite']) ?? 'append';
      checkWritable(target);
      const schema = await this.#schemaFor(data, options);
      return reportProgress(data, options.progress, (rows) =>
        withRows(target, options, () => insert(target, rows, mode, schema, options)),
      );
    };
    return about(target, 'InsertIntoTable', () => closeSourceAfter(data, add));
  }

  mergeInsert(on: string | readonly string[]): MergeInsert {
    return new MergeInsert(
      async (spec, data, options) =>
        closeSourceAfter(data, () =>
          withRows(this.#target, options, () =>
            mergeInsert(this.#target, spec, data, () => this.#schema('MergeInsertIntoTable', options), options),
          ),
        ),
      { on: mergeColumns(on) },
    );
  }

  async update(spec: UpdateSpec | ColumnsSql, options: UpdateOptions = {}): Promise<UpdateResult> {
    return about(this.#target, 'UpdateTable', () => {
      const schema = () => this.#schema('UpdateTable', options);
      return withRows(this.#target, options, () => update(this.#target, spec, schema, options));
    });
  }

  async delete(predicate: string, options: CallOptions = {}): Promise<DeleteResult> {
    return about(this.#target, 'DeleteFromTable', () => {
      checkOptions('delete', options, ['signal']);
      return withRows(this.#target, options, () => deleteRows(this.#target, predicate, options));
    });
  }

  listVersions(options: CallOptions = {}): Promise<VersionInfo[]> {
    return listVersions(this.#target, options);
  }

  async restore(version?: number, options: CallOptions = {}): Promise<void> {
    await restore(this.#target, version, options);
    if (version === undefined) await this.checkoutLatest(options);
  }

  tags(): Tags {
    return new RestTags(this.#target);
  }

  branches(): Branches<RestTable> {
    const target = this.#target;
    return new RestBranches(target, {
      open: async (pin, { signal }) =>
        this.#other(await openTarget(target.wire, this.namespacePath, this.name, { ...pin, signal })),
      unreadable: (error) => this.#other({ ...target, wire: refusing(target.wire, error) }),
    });
  }

  currentBranch(): string | null {
    return this.#target.branch ?? null;
  }

  async createIndex(column: string, options: CreateIndexOptions = {}): Promise<void> {
    const checked = await about(this.#target, 'CreateTableIndex', () => {
      const known = indexOptions(column, options);
      checkWritable(this.#target);
      return known;
    });
    const type = checked.type ?? defaultIndexType(await this.#schema('CreateTableIndex', checked), column);
    await createIndex(this.#target, column, type, checked);
  }

  listIndices(options: CallOptions = {}): Promise<IndexInfo[]> {
    return listIndices(this.#target, options);
  }

  async indexStats(name: string, options: CallOptions = {}): Promise<IndexStats> {
    return indexStats(this.#target, name, options);
  }

  async waitForIndex(
    names: string | readonly string[],
    timeoutSeconds: number,
    options: CallOptions = {},
  ): Promise<void> {
    await about(this.#target, 'DescribeTableIndexStats', () => waitForIndex(this, names, timeoutSeconds, options));
  }

  /** The specification has no operation to load an index. */
  prewarmIndex(name: string): Promise<void> {
    const hint = 'Connect to the directory of the table and call it there.';
    const what = `Can't load the index "${name}" into memory: servers have no such operation.`;
    return this.#refuse('DescribeTableIndexStats', what, hint);
  }

  /** The specification has no operation to split a string. */
  tokenize(): Promise<TextToken[]> {
    const hint = 'Connect to the directory of the table and call it there.';
    return this.#refuse('DescribeTableIndexStats', "A server can't split a string into words.", hint);
  }

  setUnenforcedPrimaryKey(column: string | readonly string[], options: CallOptions = {}): Promise<WriteResult> {
    return about(this.#target, 'UpdateFieldMetadata', () => setUnenforcedPrimaryKey(this, column, options));
  }

  async dropIndex(name: string, options: CallOptions = {}): Promise<void> {
    await dropIndex(this.#target, name, options);
  }

  stats(options: CallOptions = {}): Promise<TableStats> {
    return stats(this.#target, options);
  }

  optimize(options: OptimizeOptions = {}): Promise<OptimizeResult> {
    return optimize(this.#target, options);
  }

  async addColumns(columns: NewColumns | ComputedColumns, options: CallOptions = {}): Promise<WriteResult> {
    return addColumns(this.#target, columns, options);
  }

  async alterColumns(changes: readonly ColumnChange[], options: CallOptions = {}): Promise<WriteResult> {
    return alterColumns(this.#target, changes, options);
  }

  async dropColumns(names: readonly string[], options: CallOptions = {}): Promise<WriteResult> {
    return dropColumns(this.#target, names, options);
  }

  async updateFieldMetadata(updates: readonly FieldMetadataUpdate[], options: CallOptions = {}): Promise<WriteResult> {
    return updateFieldMetadata(this.#target, updates, options);
  }

  /** The specification has no operation to refresh a column. */
  refreshColumn(column: string): Promise<RefreshResult> {
    return about(this.#target, 'AlterTableBackfillColumns', () => {
      throw new CatalogError(
        'Unsupported',
        `Can't refresh the computed column "${column}" on a server.`,
        'Connect to the directory of the table and refresh the column there.',
      );
    });
  }

  async updateSchemaMetadata(
    metadata: Readonly<Record<string, string | null>>,
    options: CallOptions = {},
  ): Promise<Record<string, string>> {
    return updateSchemaMetadata(this.#target, metadata, options);
  }

  async backfillColumn(column: string, options: BackfillColumnOptions = {}): Promise<{ jobId: string }> {
    return backfillColumn(this.#target, column, options);
  }

  backfill(column: string, options: TableBackfillOptions = {}): BackfillJob {
    return tableBackfills().backfill(this, column, options);
  }

  async planBackfill(column: string, options: TableBackfillOptions = {}): Promise<BackfillPlan> {
    return tableBackfills().plan(this, column, options);
  }

  async tryBackfill(column: string, options: TableBackfillOptions = {}): Promise<TableTrial> {
    return tableBackfills().try(this, column, options);
  }

  view(options: TableViewOptions = {}): Promise<void> {
    return viewTable(this, options);
  }

  #refuse(operation: Operation, what: string, hint: string): Promise<never> {
    return about(this.#target, operation, () => {
      throw new CatalogError('Unsupported', what, hint);
    });
  }

  protected release(): void {
    const { wire, id } = this.#target;
    this.#setTarget({ ...this.#target, wire: refusing(wire, closedTable(displayPath(id))) });
  }

  protected async moveTo(pin: TablePin, { signal }: CallOptions): Promise<void> {
    this.#setTarget(await openTarget(this.#target.wire, this.namespacePath, this.name, { ...pin, signal }));
    recordMovedTable(this, this, pin);
  }

  #setTarget(target: RestTarget): void {
    this.#target = target;
    this.#runner = queryRunner(target);
  }

  /** Returns another object of the same table. */
  #other(target: RestTarget): RestTable {
    const table = new RestTable(target);
    recordMovedTable(this, table, target);
    return table;
  }

  /** Returns the schema of the table, to convert rows to it; `undefined` for other data, which has its own schema. */
  async #schemaFor(data: TableSource, options: CallOptions): Promise<Schema | undefined> {
    return Array.isArray(data) && !isBatchSource(data) ? this.#schema('InsertIntoTable', options) : undefined;
  }

  /** Reads the schema for another operation; errors name that operation. */
  async #schema(operation: Operation, { signal }: CallOptions): Promise<Schema> {
    try {
      return await schemaOfTable(this.#target, { signal });
    } catch (error) {
      if (isCatalogError(error)) error.operation = operation;
      throw error;
    }
  }
}

const queryRunner = (target: RestTarget): RestQueryRunner =>
  new RestQueryRunner(target, (options) => currentVersion(target, options));

/** A connection that rejects every request with the same error. */
const refusing = (wire: Wire, error: CatalogError): Wire => ({
  name: wire.name,
  delimiter: wire.delimiter,
  json: () => Promise.reject(error),
  send: () => Promise.reject(error),
  unexpected: (what, cause) => wire.unexpected(what, cause),
});
