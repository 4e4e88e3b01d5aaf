import { stat } from 'node:fs/promises';
import type { Field } from '#arrow';
import { JobError } from '#shared/jobs/jobErrors.ts';
import type { TableReference } from '#shared/jobs/backfill.ts';
import type { Catalog } from '#client/catalog.ts';
import type { Table } from '#client/table.ts';
import type { JobSpec } from '#jobs/jobSpec.ts';
import { openCatalog } from '#jobs/openCatalog.ts';

/** A table of a job: as it is, and as it was at the version that is computed. */
export type Source = AsyncDisposable & {
  readonly catalog: Catalog;
  readonly table: Table;
  readonly pinned: Table;
  readonly readVersion: number;
  readonly column: Field;
  readonly openAt: (version: number) => Promise<Table>;
};

/** Opens the table of a job at the version that it reads. @throws JobError ColumnMissing; CatalogError */
export async function openSource(
  reference: TableReference,
  spec: Pick<JobSpec, 'column' | 'readVersion'>,
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
    const column = schema.fields.find((field) => field.name === spec.column);
    if (!column) {
      throw new JobError(
        'ColumnMissing',
        `Table "${name}" has no column "${spec.column}".`,
        'Register its function on the table first, which adds the column.',
      );
    }
    const close = (): Promise<void> => catalog.close();
    return { catalog, table, pinned, readVersion, column, openAt, [Symbol.asyncDispose]: close };
  } catch (error) {
    await catalog.close();
    throw error;
  }
}

/**
 * The folder of a table on a disk of this machine, where checkpoints are beside it; `undefined` where its files are behind a
 * server or in an object store.
 */
export async function folderOf(reference: TableReference, uri: string): Promise<string | undefined> {
  if (reference.catalog.implementation !== 'dir' || uri === '' || /^[a-z][a-z\d+.-]+:\/\//i.test(uri)) return undefined;
  const found = await stat(uri).catch(() => undefined);
  return found?.isDirectory() ? uri : undefined;
}
