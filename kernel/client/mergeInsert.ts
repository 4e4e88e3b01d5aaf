import { CatalogError } from '#shared/errors.ts';
import type { CallOptions } from './callOptions.ts';
import { checkFilter } from './query.ts';
import type { MergeResult, MergeRunner, MergeSpec } from './table.ts';
import type { TableSource } from './tableSource.ts';

/**
 * Merges new rows into a table: says step by step what becomes of rows that match, of new ones and of old ones, and
 * runs with `execute(rows)`. Every step gives a new merge; without any step nothing would happen, and `execute` says so.
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

  /** Rows of the table that match a new row take its values; with `where` those for which the SQL holds. */
  whenMatchedUpdateAll(options: { where?: string | undefined } = {}): MergeInsert {
    const { where } = options;
    if (where !== undefined) checkFilter(where);
    return this.#with({
      whenMatchedUpdateAll: true,
      ...(where !== undefined && { whenMatchedUpdateAllFilter: where }),
    });
  }

  /** New rows that match none of the table are added. */
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

  /** @throws CatalogError InvalidInput (13) when no step was named, SchemaValidation (20) for rows that do not fit */
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
