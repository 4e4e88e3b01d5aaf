import type { Schema, Table as ArrowTable } from '#arrow';
import { type CallOptions, checkChoice, checkOptions } from '#catalog/arguments/options.ts';
import { isBatchSource, closeSourceAfter } from '#catalog/arrow/batchSource.ts';
import { type BackfillJob, type TableBackfillOptions, type TableTrial } from '#catalog/backfill.ts';
import type { Operation } from '#catalog/contract.ts';
import { checkIndexOptions, defaultIndexType } from '#catalog/indexes.ts';
import type { BackfillColumnOptions } from '#catalog/jobs.ts';
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
import { CatalogError, isCatalogError } from '#shared/errors.ts';
import type { BackfillPlan } from '#shared/jobs/jobPlan.ts';
import type { NamespacePath } from '#shared/names.ts';
import {
  addColumns,
  alterColumns,
  backfillColumn,
  dropColumns,
  updateFieldMetadata,
  updateSchemaMetadata,
} from './columns.ts';
import { createIndex, dropIndex, indexStats, listIndices } from './indexes.ts';
import { RestQueryRunner } from './query.ts';
import { about, checkWritable, countRows, type RestTarget } from './target.ts';
import { currentVersion, listVersions, RestBranches, restore, RestTags, stats } from './versions.ts';
import { deleteRows, insert, mergeInsert, update } from './writes.ts';

/**
 * A table on a server: requests and rows travel over HTTP; this process never reads the storage behind the server.
 */
export class RestTable implements Table {
  readonly name: string;
  readonly namespacePath: NamespacePath;
  readonly #target: RestTarget;
  readonly #runner: RestQueryRunner;

  constructor(target: RestTarget) {
    this.name = target.id.at(-1) ?? '';
    this.namespacePath = target.id.slice(0, -1);
    this.#target = target;
    this.#runner = new RestQueryRunner(this.#target, (options) => currentVersion(this.#target, options));
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
    return countRows(this.#target, filter, { signal });
  }

  query(): Query {
    return new Query(this.#runner);
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

  /**
   * Returns the rows of a query as an uncompressed Arrow IPC stream, for callers that forward them without decoding.
   * @throws CatalogError InvalidInput (13) for more than `maxBytes` (default: 256 MiB)
   */
  queryIpc(spec: QuerySpec, options: CallOptions & { maxBytes?: number } = {}): Promise<Uint8Array> {
    return this.#runner.queryIpc(spec, options.maxBytes ?? 256 * 1024 * 1024, options.signal);
  }

  async add(data: TableSource, options: AddOptions = {}): Promise<InsertResult> {
    const target = this.#target;
    const add = async () => {
      checkOptions('add', options, ['mode', 'signal']);
      const mode = checkChoice('add', 'mode', options.mode, ['append', 'overwrite']) ?? 'append';
      checkWritable(target);
      return insert(target, data, mode, await this.#schemaFor(data, options), options);
    };
    return about(target, 'InsertIntoTable', () => closeSourceAfter(data, add));
  }

  mergeInsert(on: string | readonly string[]): MergeInsert {
    return new MergeInsert(
      async (spec, data, options) =>
        closeSourceAfter(data, () =>
          mergeInsert(this.#target, spec, data, () => this.#schema('MergeInsertIntoTable', options), options),
        ),
      { on: mergeColumns(on) },
    );
  }

  async update(spec: UpdateSpec, options: CallOptions = {}): Promise<UpdateResult> {
    return about(this.#target, 'UpdateTable', () => {
      checkOptions('update', options, ['signal']);
      return update(this.#target, spec, () => this.#schema('UpdateTable', options), options);
    });
  }

  async delete(predicate: string, options: CallOptions = {}): Promise<WriteResult> {
    return about(this.#target, 'DeleteFromTable', () => {
      checkOptions('delete', options, ['signal']);
      return deleteRows(this.#target, predicate, options);
    });
  }

  listVersions(options: CallOptions = {}): Promise<VersionInfo[]> {
    return listVersions(this.#target, options);
  }

  async restore(version: number, options: CallOptions = {}): Promise<void> {
    await restore(this.#target, version, options);
  }

  tags(): Tags {
    return new RestTags(this.#target);
  }

  branches(): Branches {
    return new RestBranches(this.#target);
  }

  async createIndex(column: string, options: CreateIndexOptions = {}): Promise<void> {
    await about(this.#target, 'CreateTableIndex', () => {
      checkIndexOptions(column, options);
      checkWritable(this.#target);
    });
    const type = options.type ?? defaultIndexType(await this.#schema('CreateTableIndex', options), column);
    await createIndex(this.#target, column, type, options);
  }

  listIndices(options: CallOptions = {}): Promise<IndexInfo[]> {
    return listIndices(this.#target, options);
  }

  async indexStats(name: string, options: CallOptions = {}): Promise<IndexStats> {
    return indexStats(this.#target, name, options);
  }

  async dropIndex(name: string, options: CallOptions = {}): Promise<void> {
    await dropIndex(this.#target, name, options);
  }

  stats(options: CallOptions = {}): Promise<TableStats> {
    return stats(this.#target, options);
  }

  async addColumns(columns: readonly NewColumn[], options: CallOptions = {}): Promise<WriteResult> {
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

  /** Rows are converted to the schema of the table; other data already has a schema. */
  async #schemaFor(data: TableSource, options: CallOptions): Promise<Schema | undefined> {
    return Array.isArray(data) && !isBatchSource(data) ? this.#schema('InsertIntoTable', options) : undefined;
  }

  /** Reads the schema for another operation; errors name that operation. */
  async #schema(operation: Operation, { signal }: CallOptions): Promise<Schema> {
    try {
      // Reads the schema with a query and not with "DescribeTable", because the JSON schema of the latter has no time
      // units and zones.
      return (await this.#runner.run({ limit: 0 }, signal)).schema;
    } catch (error) {
      if (isCatalogError(error)) error.operation = operation;
      throw error;
    }
  }
}
