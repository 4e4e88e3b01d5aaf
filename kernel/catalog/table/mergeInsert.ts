import { Schema } from '#arrow';
import { type CallOptions, checkOptions } from '#catalog/arguments/options.ts';
import { startTimeLimit, type TimedCallOptions } from '#catalog/arguments/timeLimit.ts';
import { checkFlag } from '#catalog/arguments/tableArguments.ts';
import type { Row } from '#catalog/arrow/inferRows.ts';
import { CatalogError } from '#shared/errors.ts';
import { type NotSupported, notSupported } from '#catalog/lancedb/unsupported.ts';
import { checkFilter } from '#catalog/query/query.ts';
import type { TableSource } from './tableData.ts';
import type { MergeResult } from './writeResults.ts';

/**
 * Merges new rows into a table. The steps define what happens to matching rows, new rows and old rows; `execute(rows)`
 * runs the merge. Every step returns a new merge. Without a step `execute` throws, because there would be nothing to
 * do.
 *
 * Merges of one table run one after another within a process. Two processes that add the same new key at the same time
 * both add their row, unless the schema marks the key as primary: a column that can't be null, with the metadata
 * `"lance-schema:unenforced-primary-key": "true"`.
 */
export class MergeInsert {
  readonly #run: MergeRunner;
  readonly #spec: MergeSpec;

  constructor(run: MergeRunner, spec: MergeSpec) {
    this.#run = run;
    this.#spec = spec;
  }

  /** The merge as plain data. */
  get spec(): MergeSpec {
    return this.#spec;
  }

  /**
   * Updates table rows that match a new row; columns that the new row leaves out keep their values. With `where`,
   * updates only rows for which the SQL is true.
   */
  whenMatchedUpdateAll(options: { where?: string | undefined } = {}): MergeInsert {
    const { where } = options;
    if (where !== undefined) checkFilter(where);
    return this.#with({
      whenMatchedUpdateAll: true,
      ...(where !== undefined && { whenMatchedUpdateAllFilter: where }),
    });
  }

  /** Adds new rows that match no table row, with null in columns that they leave out. */
  whenNotMatchedInsertAll(): MergeInsert {
    return this.#with({ whenNotMatchedInsertAll: true });
  }

  /** Deletes table rows that match no new row; with `where`, deletes only rows for which the SQL is true. */
  whenNotMatchedBySourceDelete(options: { where?: string | undefined } = {}): MergeInsert {
    const { where } = options;
    if (where !== undefined) checkFilter(where);
    return this.#with({
      whenNotMatchedBySourceDelete: true,
      ...(where !== undefined && { whenNotMatchedBySourceDeleteFilter: where }),
    });
  }

  /** True (default): finds matching rows by an index on their columns, if there is one. False: reads all rows. */
  useIndex(useIndex: boolean): MergeInsert {
    return this.#with({ useIndex: checkFlag('useIndex', 'argument', useIndex) });
  }

  /** Not supported. @deprecated This client has no LSM writes: leave this step out. */
  useLsm(this: NotSupported<typeof noLsm>, _enable: boolean): never {
    throw notSupported('useLsm', noLsm);
  }

  /** Not supported. @deprecated This client has no LSM writes: leave this step out. */
  validateSingleShard(this: NotSupported<typeof noLsm>, _enable: boolean): never {
    throw notSupported('validateSingleShard', noLsm);
  }

  /**
   * Merges the rows in one version ("MergeInsertIntoTable").
   * @throws CatalogError InvalidInput (13) if the merge has no step, SchemaValidation (20) for rows that do not match
   * the schema, ConcurrentModification (14)
   */
  async execute(data: TableSource, options: TimedCallOptions = {}): Promise<MergeResult> {
    const { whenMatchedUpdateAll, whenNotMatchedInsertAll, whenNotMatchedBySourceDelete } = this.#spec;
    if (!whenMatchedUpdateAll && !whenNotMatchedInsertAll && !whenNotMatchedBySourceDelete) {
      throw new CatalogError(
        'InvalidInput',
        'The merge has no action.',
        'Add for instance .whenMatchedUpdateAll().whenNotMatchedInsertAll() before .execute(rows).',
      );
    }
    checkOptions('mergeInsert', options, ['signal', 'timeoutMs']);
    return startTimeLimit('mergeInsert', options).run((signal) => this.#run(this.#spec, data, { signal }));
  }

  #with(change: Partial<MergeSpec>): MergeInsert {
    return new MergeInsert(this.#run, { ...this.#spec, ...change });
  }
}

const noLsm = 'This client has no LSM writes. Leave this step out.';

/**
 * Returns the columns that a merge matches by.
 * @throws CatalogError InvalidInput (13) for none
 */
export function mergeColumns(on: string | readonly string[]): string[] {
  const columns = typeof on === 'string' ? [on] : [...on];
  if (columns.length > 0 && columns.every((name) => typeof name === 'string' && name !== '')) return columns;
  throw new CatalogError(
    'InvalidInput',
    'The merge has no column to match rows by.',
    'Write for instance mergeInsert("id").',
  );
}

/**
 * Returns the schema for the rows of a merge: only the columns that the rows have, because the merge changes every
 * column that is sent.
 * @throws CatalogError InvalidInput (13) if only some rows have a column, because the column would become null in the
 * other rows
 */
export function mergeSchema(spec: MergeSpec, rows: readonly Row[], table: Schema): Schema {
  const fields = table.fields.filter(({ name, nullable }) => {
    const without = rows.findIndex((row) => !has(row, name));
    if (without < 0) return true;
    const isKey = spec.on.includes(name);
    if (isKey || (spec.whenMatchedUpdateAll && rows.some((row) => has(row, name)))) {
      throw new CatalogError(
        'InvalidInput',
        `Row ${without} has no "${name}", ${isKey ? 'which the merge matches by' : 'which other rows have'}.`,
        isKey
          ? 'Set it in every row.'
          : 'Set it in every row (null if there is no value), or merge these rows separately.',
      );
    }
    // Added rows need a value for this column, so the column stays in the schema. Then rows without the column are
    // rejected as in `add()`.
    return rows.some((row) => has(row, name)) || (spec.whenNotMatchedInsertAll === true && !nullable);
  });
  return new Schema(fields, table.metadata);
}

/** A row may be `null`, because a notebook cell can pass any value and rows are checked later. */
const has = (row: Row | null, name: string): boolean => row?.[name] !== undefined;

/** A merge as plain data ("MergeInsertIntoTable"). */
export type MergeSpec = {
  on: readonly string[];
  whenMatchedUpdateAll?: boolean;
  /** SQL over `source.` and `target.` columns. */
  whenMatchedUpdateAllFilter?: string;
  whenNotMatchedInsertAll?: boolean;
  whenNotMatchedBySourceDelete?: boolean;
  whenNotMatchedBySourceDeleteFilter?: string;
  useIndex?: boolean;
};

type MergeRunner = (spec: MergeSpec, data: TableSource, options: CallOptions) => Promise<MergeResult>;
