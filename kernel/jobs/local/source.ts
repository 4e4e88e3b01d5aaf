import { Field } from '#arrow';
import type { Catalog } from '#catalog/catalog.ts';
import { sqlName } from '#catalog/sqlText.ts';
import type { Table } from '#catalog/table/table.ts';
import { decodeOutput } from '#jobs/definition/outputType.ts';
import type { JobSpec } from '#jobs/jobSpec.ts';
import { openCatalog } from '#jobs/openCatalog.ts';
import type { TableReference } from '#shared/jobs/backfill.ts';
import type { ComputedFunction } from '#shared/jobs/computedFunction.ts';
import { JobError } from '#shared/jobs/jobErrors.ts';

/**
 * Filter of the rows to compute. Default: rows where the column is null, or all rows if the column does not exist yet.
 */
export const scopeOf = ({ where, column }: Pick<JobSpec, 'where' | 'column'>, isColumnThere = true): string =>
  where ?? (isColumnThere ? `${sqlName(column)} IS NULL` : 'TRUE');

/** Restricts a filter to a range of row addresses; `to` is exclusive. */
export const scopeBetween = (scope: string, from: bigint, to: bigint | undefined): string =>
  `(${scope}) AND _rowaddr >= ${from}${to === undefined ? '' : ` AND _rowaddr < ${to}`}`;

/** A table at its latest version and at the version to compute. */
export type Source = AsyncDisposable & {
  readonly catalog: Catalog;
  readonly table: Table;
  readonly pinned: Table;
  readonly readVersion: number;
  /** The existing column, or the column that registering the function will create. */
  readonly column: Field;
  readonly isColumnThere: boolean;
  readonly openAt: (version: number) => Promise<Table>;
};

/**
 * Opens the table of a job. If the column does not exist yet, its type comes from the function and no row has a
 * value.
 * @throws JobError ColumnMissing if the column and the function are missing; CatalogError
 */
export async function openSource(
  reference: TableReference,
  spec: Pick<JobSpec, 'column' | 'readVersion'> & { readonly function?: ComputedFunction | undefined },
  signal: AbortSignal,
): Promise<Source> {
  const catalog = await openCatalog(reference.catalog, signal);
  try {
    const { name, namespacePath } = reference;
    const openAt = (version: number): Promise<Table> => catalog.openTable(name, { namespacePath, version, signal });
    const table = await catalog.openTable(name, { namespacePath, signal });
    const readVersion = spec.readVersion ?? (await table.version({ signal }));
    const pinned = await openAt(readVersion);
    const schema = await table.schema({ signal });
    const there = schema.fields.find((field) => field.name === spec.column);
    const given = spec.function && decodeOutput(spec.function.output);
    const column = there ?? (given && new Field(spec.column, given.type, true));
    if (!column) {
      throw new JobError(
        'ColumnMissing',
        `Table "${name}" has no column "${spec.column}".`,
        'Register its function on the table, which adds the column.',
      );
    }
    const close = (): Promise<void> => catalog.close();
    const isColumnThere = there !== undefined;
    return { catalog, table, pinned, readVersion, column, isColumnThere, openAt, [Symbol.asyncDispose]: close };
  } catch (error) {
    await catalog.close();
    throw error;
  }
}
