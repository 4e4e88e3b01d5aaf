import type { Schema, Table as ArrowTable } from '#arrow';
import type { CallOptions } from '#catalog/arguments/options.ts';
import { type BackfillJob, type TableBackfillOptions, type TableTrial } from '#catalog/backfill.ts';
import type { FullTextQuery } from '#catalog/query/fullTextQuery.ts';
import { hybridRunner, isHybrid } from '#catalog/query/hybridSearch.ts';
import { closedTable, LanceDbTable, type TablePin } from '#catalog/lancedb/lanceDbTable.ts';
import { mergeColumns, MergeInsert } from '#catalog/table/mergeInsert.ts';
import type { OptimizeOptions, OptimizeResult } from '#catalog/table/optimize.ts';
import { checkFilter, Query } from '#catalog/query/query.ts';
import { setUnenforcedPrimaryKey } from '#catalog/table/primaryKey.ts';
import { waitForIndex } from '#catalog/table/waitForIndex.ts';
import { reportProgress } from '#catalog/table/writeProgress.ts';
import type { FullTextOptions, QueryOptions, QuerySpec } from '#catalog/query/querySpec.ts';
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
  TokenizeOptions,
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
import type { BackfillPlan } from '#shared/jobs/jobPlan.ts';
import { displayPath, type NamespacePath } from '#shared/names.ts';
import { unsupported } from './dirCapabilities.ts';
import type { BlobRange, BlobRows } from '#catalog/blobs.ts';
import { type BlobHead, readBlob, readBlobHeads } from './dirBlobs.ts';
import { addColumns, alterColumns, dropColumns, refreshColumn, updateFieldMetadata } from './dirColumns.ts';
import { createIndex, dropIndex, indexStats, listIndices, prewarmIndex, tableStats, tokenize } from './dirIndexes.ts';
import { optimizeTable } from './dirOptimize.ts';
import { dirQueryRunner, type IpcRows, queryIpc } from './dirQuery.ts';
import { dirBranches, dirTags, restore } from './dirRefs.ts';
import { addRows, deleteRows, mergeRows, updateRows } from './dirWrites.ts';
import { checkSql } from './checkSql.ts';
import type { VersionFacts } from './sharedTables.ts';
import type { TableHandle } from './tableHandle.ts';
import { findVersion, listVersionPage, listVersions, type VersionPage, type VersionRange } from './versionPages.ts';

/** A table of a directory, on the engine's table handle. */
export class DirTable extends LanceDbTable implements Table {
  readonly name: string;
  readonly namespacePath: NamespacePath;
  #handle: TableHandle;

  constructor(handle: TableHandle) {
    super();
    this.#handle = handle;
    this.name = handle.name;
    this.namespacePath = handle.namespacePath;
  }

  /**
   * Reads the schema and, if requested, the numbers of rows and fragments of one version. Facts of that version that
   * were read before are not read again. Returns `undefined` if another client writes meanwhile. This can't happen to a
   * table that was opened at a version.
   */
  async readFacts(
    parts: { rows: boolean; fragments: boolean },
    options: CallOptions,
  ): Promise<VersionFacts | undefined> {
    const version = this.#handle.pin.version ?? (await this.version(options));
    const last = this.#handle.facts;
    const known = last?.version === version ? last : undefined;
    const isMissing =
      !known || (parts.rows && known.numRows === undefined) || (parts.fragments && known.numFragments === undefined);
    if (!isMissing) return known;
    const [schema, numRows, numFragments] = await Promise.all([
      known?.schema ?? this.schema(options),
      known?.numRows ?? (parts.rows ? this.countRows(undefined, options) : undefined),
      known?.numFragments ?? (parts.fragments ? this.stats(options).then((stats) => stats.numFragments) : undefined),
    ]);
    if (this.#handle.pin.version === undefined && (await this.version(options)) !== version) return undefined;
    const facts = { version, schema, numRows, numFragments };
    this.#handle.facts = facts;
    return facts;
  }

  /** The full path of the table's files, if the engine reports it. */
  get folder(): string | undefined {
    return this.#handle.folder;
  }

  schema(options: CallOptions = {}): Promise<Schema> {
    return this.#handle.read('DescribeTable', options, (native) => native.schema());
  }

  version(options: CallOptions = {}): Promise<number> {
    return this.#handle.read('DescribeTable', options, (native) => native.version());
  }

  /**
   * Returns the branch the table was opened on, `undefined` for the main branch. If the table was opened at a tag,
   * returns the branch of the tag.
   */
  branch(options: CallOptions = {}): Promise<string | undefined> {
    return this.#handle.read('DescribeTable', options, (native) =>
      Promise.resolve(native.currentBranch() ?? undefined),
    );
  }

  countRows(filter?: string, options: CallOptions = {}): Promise<number> {
    return this.#handle.read(
      'CountTableRows',
      options,
      async (native) => {
        if (filter !== undefined) {
          checkFilter(filter);
          checkSql(filter);
        }
        return native.countRows(filter);
      },
      filter,
    );
  }

  /** Reads the sizes and first bytes of the blobs in rows of a column; `null` for a null. */
  readBlobHeads(column: string, rows: BlobRows, options: CallOptions = {}): Promise<(BlobHead | null)[]> {
    return this.#handle.read('QueryTable', options, (native) => readBlobHeads(native, column, rows, options.signal));
  }

  /** Reads bytes [start, end) of the blob in a row, fewer at its end; none of a null. */
  readBlob(column: string, range: BlobRange, options: CallOptions = {}): Promise<Uint8Array> {
    return this.#handle.read('QueryTable', options, (native) => readBlob(native, column, range));
  }

  query(): Query {
    return new Query(hybridRunner(dirQueryRunner(() => this.#handle)));
  }

  vectorSearch(vector: ArrayLike<number> | readonly ArrayLike<number>[], options?: QueryOptions): Query {
    return this.query().nearestTo(vector, options);
  }

  fullTextSearch(query: string | FullTextQuery, options?: FullTextOptions): Query {
    return this.query().fullTextSearch(query, options);
  }

  takeRowIds(rowIds: readonly (bigint | number)[]): TakeQuery {
    return takeRowIds(
      dirQueryRunner(() => this.#handle),
      rowIds,
    );
  }

  takeOffsets(offsets: readonly (bigint | number)[]): TakeQuery {
    return takeOffsets(
      dirQueryRunner(() => this.#handle),
      offsets,
    );
  }

  toArrow(options: CallOptions = {}): Promise<ArrowTable> {
    return this.query().toArrow(options);
  }

  /** See `queryIpc`. Returns `undefined` for a search by vector and text, which is two queries of the engine. */
  executeIpc(spec: QuerySpec, signal?: AbortSignal): Promise<IpcRows | undefined> {
    return isHybrid(spec) ? Promise.resolve(undefined) : queryIpc(this.#handle, spec, signal);
  }

  add(data: TableSource, options: AddOptions = {}): Promise<InsertResult> {
    const { progress, ...rest } = options;
    return reportProgress(data, progress, (rows) => addRows(this.#handle, rows, rest));
  }

  mergeInsert(on: string | readonly string[]): MergeInsert {
    return new MergeInsert((spec, data, options) => mergeRows(this.#handle, spec, data, options), {
      on: mergeColumns(on),
    });
  }

  update(spec: UpdateSpec | ColumnsSql, options: UpdateOptions = {}): Promise<UpdateResult> {
    return updateRows(this.#handle, spec, options);
  }

  delete(predicate: string, options: CallOptions = {}): Promise<DeleteResult> {
    return deleteRows(this.#handle, predicate, options);
  }

  listVersions(options: CallOptions = {}): Promise<VersionInfo[]> {
    return listVersions(this.#handle, options);
  }

  /** See `listVersionPage`. */
  listVersionPage(range: VersionRange, options: CallOptions = {}): Promise<VersionPage> {
    return listVersionPage(this.#handle, range, options);
  }

  /** See `findVersion`. */
  findVersion(version: number | undefined, options: CallOptions = {}): Promise<VersionInfo | undefined> {
    return findVersion(this.#handle, version, options);
  }

  async restore(version?: number, options: CallOptions = {}): Promise<void> {
    await restore(this.#handle, version, options);
    if (version === undefined) await this.checkoutLatest(options);
  }

  tags(): Tags {
    return dirTags(() => this.#handle);
  }

  branches(): Branches<DirTable> {
    return dirBranches(
      () => this.#handle,
      async (pin, options) => {
        const table = new DirTable(await this.#handle.at(pin, options));
        recordMovedTable(this, table, pin);
        return table;
      },
    );
  }

  currentBranch(): string | null {
    if (!this.isOpen()) throw closedTable(displayPath(this.namespacePath, this.name));
    return this.#handle.branch ?? null;
  }

  createIndex(column: string, options: CreateIndexOptions = {}): Promise<void> {
    return createIndex(this.#handle, column, options);
  }

  listIndices(options: CallOptions = {}): Promise<IndexInfo[]> {
    return listIndices(this.#handle, options);
  }

  indexStats(name: string, options: CallOptions = {}): Promise<IndexStats> {
    return indexStats(this.#handle, name, options);
  }

  waitForIndex(names: string | readonly string[], timeoutSeconds: number, options: CallOptions = {}): Promise<void> {
    return waitForIndex(this, names, timeoutSeconds, options);
  }

  prewarmIndex(name: string, options: CallOptions = {}): Promise<void> {
    return prewarmIndex(this.#handle, name, options);
  }

  tokenize(query: string, options: TokenizeOptions): Promise<TextToken[]> {
    return tokenize(this.#handle, query, options);
  }

  setUnenforcedPrimaryKey(column: string | readonly string[], options: CallOptions = {}): Promise<WriteResult> {
    return setUnenforcedPrimaryKey(this, column, options);
  }

  dropIndex(name: string, options: CallOptions = {}): Promise<void> {
    return dropIndex(this.#handle, name, options);
  }

  stats(options: CallOptions = {}): Promise<TableStats> {
    return tableStats(this.#handle, options);
  }

  optimize(options: OptimizeOptions = {}): Promise<OptimizeResult> {
    return optimizeTable(this.#handle, options);
  }

  addColumns(columns: NewColumns | ComputedColumns, options: CallOptions = {}): Promise<WriteResult> {
    return addColumns(this.#handle, columns, options);
  }

  alterColumns(changes: readonly ColumnChange[], options: CallOptions = {}): Promise<WriteResult> {
    return alterColumns(this.#handle, changes, options);
  }

  dropColumns(names: readonly string[], options: CallOptions = {}): Promise<WriteResult> {
    return dropColumns(this.#handle, names, options);
  }

  updateFieldMetadata(updates: readonly FieldMetadataUpdate[], options: CallOptions = {}): Promise<WriteResult> {
    return updateFieldMetadata(this.#handle, updates, options);
  }

  refreshColumn(column: string, options: CallOptions = {}): Promise<RefreshResult> {
    return refreshColumn(this.#handle, column, options);
  }

  updateSchemaMetadata(): Promise<Record<string, string>> {
    return this.#refuse('UpdateTableSchemaMetadata');
  }

  backfillColumn(): Promise<{ jobId: string }> {
    return this.#refuse('AlterTableBackfillColumns');
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

  /** Closes the engine's table handle once it is idle. */
  protected release(): void {
    this.#handle.close();
  }

  protected async moveTo(pin: TablePin, options: CallOptions): Promise<void> {
    const moved = await this.#handle.at(pin, options);
    if (!this.isOpen()) {
      moved.close();
      throw closedTable(displayPath(this.namespacePath, this.name));
    }
    const previous = this.#handle;
    this.#handle = moved;
    // A query may still read from the previous handle.
    previous.retire();
    recordMovedTable(this, this, pin);
  }

  #refuse(operation: 'UpdateTableSchemaMetadata' | 'AlterTableBackfillColumns'): Promise<never> {
    return this.#handle.write(operation, {}, () => Promise.reject(unsupported(operation)));
  }
}
