import type { Schema, Table as ArrowTable } from '#arrow';
import type { CallOptions } from '#catalog/arguments/options.ts';
import { type BackfillJob, type TableBackfillOptions, type TableTrial } from '#catalog/backfill.ts';
import { mergeColumns, MergeInsert } from '#catalog/mergeInsert.ts';
import { checkFilter, Query } from '#catalog/query.ts';
import type { FullTextOptions, QueryOptions, QuerySpec } from '#catalog/querySpec.ts';
import type {
  AddOptions,
  ColumnChange,
  CreateIndexOptions,
  FieldMetadataUpdate,
  IndexInfo,
  IndexStats,
  NewColumn,
  Table,
  TableStats,
  UpdateSpec,
  VersionInfo,
} from '#catalog/table.ts';
import { tableBackfills } from '#catalog/tableBackfills.ts';
import type { TableSource } from '#catalog/tableData.ts';
import type { Branches, Tags } from '#catalog/tagsBranches.ts';
import type { InsertResult, RefreshResult, UpdateResult, WriteResult } from '#catalog/writeResults.ts';
import type { BackfillPlan } from '#shared/jobs/jobPlan.ts';
import type { NamespacePath } from '#shared/names.ts';
import { unsupported } from './dirCapabilities.ts';
import { addColumns, alterColumns, dropColumns, refreshColumn, updateFieldMetadata } from './dirColumns.ts';
import { createIndex, dropIndex, indexStats, listIndices, tableStats } from './dirIndexes.ts';
import { dirQueryRunner, type IpcRows, queryIpc } from './dirQuery.ts';
import { dirBranches, dirTags, listVersions, restore } from './dirRefs.ts';
import { addRows, deleteRows, mergeRows, updateRows } from './dirWrites.ts';
import { checkSql } from './checkSql.ts';
import type { TableHandle } from './tableHandle.ts';

/** A table of a directory, on the engine's table handle. */
export class DirTable implements Table {
  readonly name: string;
  readonly namespacePath: NamespacePath;
  readonly #handle: TableHandle;

  constructor(handle: TableHandle) {
    this.#handle = handle;
    this.name = handle.name;
    this.namespacePath = handle.namespacePath;
  }

  schema(options: CallOptions = {}): Promise<Schema> {
    return this.#handle.read('DescribeTable', options, (native) => native.schema());
  }

  version(options: CallOptions = {}): Promise<number> {
    return this.#handle.read('DescribeTable', options, (native) => native.version());
  }

  /**
   * Returns the branch the table was opened on, `undefined` for the main branch. For a tag it is the branch of the tag.
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

  query(): Query {
    return new Query(dirQueryRunner(this.#handle));
  }

  vectorSearch(vector: ArrayLike<number>, options?: QueryOptions): Query {
    return this.query().nearestTo(vector, options);
  }

  fullTextSearch(query: string, options?: FullTextOptions): Query {
    return this.query().fullTextSearch(query, options);
  }

  toArrow(options: CallOptions = {}): Promise<ArrowTable> {
    return this.query().toArrow(options);
  }

  /** See `queryIpc`. */
  executeIpc(spec: QuerySpec, signal?: AbortSignal): Promise<IpcRows | undefined> {
    return queryIpc(this.#handle, spec, signal);
  }

  add(data: TableSource, options: AddOptions = {}): Promise<InsertResult> {
    return addRows(this.#handle, data, options);
  }

  mergeInsert(on: string | readonly string[]): MergeInsert {
    return new MergeInsert((spec, data, options) => mergeRows(this.#handle, spec, data, options), {
      on: mergeColumns(on),
    });
  }

  update(spec: UpdateSpec, options: CallOptions = {}): Promise<UpdateResult> {
    return updateRows(this.#handle, spec, options);
  }

  delete(predicate: string, options: CallOptions = {}): Promise<WriteResult> {
    return deleteRows(this.#handle, predicate, options);
  }

  listVersions(options: CallOptions = {}): Promise<VersionInfo[]> {
    return listVersions(this.#handle, options);
  }

  restore(version: number, options: CallOptions = {}): Promise<void> {
    return restore(this.#handle, version, options);
  }

  tags(): Tags {
    return dirTags(this.#handle);
  }

  branches(): Branches {
    return dirBranches(this.#handle);
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

  dropIndex(name: string, options: CallOptions = {}): Promise<void> {
    return dropIndex(this.#handle, name, options);
  }

  stats(options: CallOptions = {}): Promise<TableStats> {
    return tableStats(this.#handle, options);
  }

  addColumns(columns: readonly NewColumn[], options: CallOptions = {}): Promise<WriteResult> {
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

  /** Closes the engine's table handle once it is idle. */
  close(): void {
    this.#handle.close();
  }

  #refuse(operation: 'UpdateTableSchemaMetadata' | 'AlterTableBackfillColumns'): Promise<never> {
    return this.#handle.write(operation, {}, () => Promise.reject(unsupported(operation)));
  }
}
