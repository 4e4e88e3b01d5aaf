import { Schema } from '#arrow';
import type { CallOptions } from '#catalog/arguments/options.ts';
import type { Row } from '#catalog/arrow/inferRows.ts';
import { CatalogError } from '#shared/errors.ts';
import { checkFilter } from './query.ts';
import type { TableSource } from './tableData.ts';
import type { MergeResult } from './writeResults.ts';

/**
 * Merges new rows into a table: says step by step what becomes of rows that match, of new ones and of old ones, and
 * runs with `execute(rows)`. Every step gives a new merge; without any step nothing would happen, and `execute` says so.
 *
 * Merges of one table run one after the other within a process. Two processes that add the same new key at the same time
 * both add their row, unless the schema names the key as primary: a column that can't be null, with the metadata
 * `"lance-schema:unenforced-primary-key": "true"`.
 */
export class MergeInsert {
  readonly #run: MergeRunner;
  readonly #spec: MergeSpec;

  constructor(run: MergeRunner, spec: MergeSpec) {
    this.#run = run;
    this.#spec = spec;
  }

  /** What is asked for, as plain data. */
  get spec(): MergeSpec {
    return this.#spec;
  }

  /**
   * Rows of the table that match a new row take its values, and keep those of columns that it leaves out; with `where`
   * those for which the SQL holds.
   */
  whenMatchedUpdateAll(options: { where?: string | undefined } = {}): MergeInsert {
    const { where } = options;
    if (where !== undefined) checkFilter(where);
    return this.#with({
      whenMatchedUpdateAll: true,
      ...(where !== undefined && { whenMatchedUpdateAllFilter: where }),
    });
  }

  /** New rows that match none of the table are added, with null in columns that they leave out. */
  whenNotMatchedInsertAll(): MergeInsert {
    return this.#with({ whenNotMatchedInsertAll: true });
  }

  /** Rows of the table that match no new row are deleted; with `where` those for which the SQL holds. */
  whenNotMatchedBySourceDelete(options: { where?: string | undefined } = {}): MergeInsert {
    const { where } = options;
    if (where !== undefined) checkFilter(where);
    return this.#with({
      whenNotMatchedBySourceDelete: true,
      ...(where !== undefined && { whenNotMatchedBySourceDeleteFilter: where }),
    });
  }

  /**
   * Merges the rows in one version ("MergeInsertIntoTable").
   * @throws CatalogError InvalidInput (13) when no step was named, SchemaValidation (20) for rows that do not fit,
   * ConcurrentModification (14)
   */
  async execute(data: TableSource, options: CallOptions = {}): Promise<MergeResult> {
    const { whenMatchedUpdateAll, whenNotMatchedInsertAll, whenNotMatchedBySourceDelete } = this.#spec;
    if (!whenMatchedUpdateAll && !whenNotMatchedInsertAll && !whenNotMatchedBySourceDelete) {
      throw new CatalogError(
        'InvalidInput',
        'The merge says nothing to do.',
        'Add for instance .whenMatchedUpdateAll().whenNotMatchedInsertAll() before .execute(rows).',
      );
    }
    return this.#run(this.#spec, data, options);
  }

  #with(change: Partial<MergeSpec>): MergeInsert {
    return new MergeInsert(this.#run, { ...this.#spec, ...change });
  }
}

/**
 * The columns that a merge matches by.
 * @throws CatalogError InvalidInput (13) for none
 */
export function mergeColumns(on: string | readonly string[]): string[] {
  const columns = typeof on === 'string' ? [on] : [...on];
  if (columns.length > 0 && columns.every((name) => typeof name === 'string' && name !== '')) return columns;
  throw new CatalogError(
    'InvalidInput',
    'The merge names no column to match by.',
    'Write for instance mergeInsert("id").',
  );
}

/**
 * The schema of the rows of a merge: of the table's columns those that the rows have, since a column that is sent is a
 * column that is changed.
 * @throws CatalogError InvalidInput (13) where some rows have a column and others leave it out: null would be put in its place
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
          ? 'Give it in every row.'
          : 'Give it in every row (null where there is no value), or merge such rows apart.',
      );
    }
    // Rows that are added need it: the rows are refused for it as those of add() are.
    return rows.some((row) => has(row, name)) || (spec.whenNotMatchedInsertAll === true && !nullable);
  });
  return new Schema(fields, table.metadata);
}

/** Rows are checked later; a notebook may give anything. */
const has = (row: Row | null, name: string): boolean => row?.[name] !== undefined;

/** What a merge asks for; plain data ("MergeInsertIntoTable"). */
export type MergeSpec = {
  on: readonly string[];
  whenMatchedUpdateAll?: boolean;
  /** SQL over `source.` and `target.` columns. */
  whenMatchedUpdateAllFilter?: string;
  whenNotMatchedInsertAll?: boolean;
  whenNotMatchedBySourceDelete?: boolean;
  whenNotMatchedBySourceDeleteFilter?: string;
};

/** Merges rows into a table. */
type MergeRunner = (spec: MergeSpec, data: TableSource, options: CallOptions) => Promise<MergeResult>;
