import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { leasedColumn, leaseFolder, type LeaseHolder, watchLease } from '#processes/columnLease.ts';
import { CatalogError, isAbort } from '#shared/errors.ts';
import { displayPath } from '#shared/names.ts';
import { openStoreFiles, type TableFiles } from './files/storeFiles.ts';
import type { TableHandle } from './tableHandle.ts';
import { tableLocation } from './files/tableLocation.ts';

/**
 * Refuses a call while a backfill computes a column of the table. In an object store this works only in a process that
 * has called `registerStoreFiles`.
 * @throws CatalogError ConcurrentModification (14) naming the job
 */
export async function checkNoBackfill(handle: TableHandle, call: string, signal: AbortSignal | undefined) {
  const { place, name, namespacePath } = handle;
  const location = await tableLocation(place, { name, path: namespacePath });
  if (location === undefined) return;
  using files = place.isLocal ? localFiles(location) : await openStoreFiles(location, place.storageOptions ?? {});
  if (!files) return;
  for (const file of await listLeases(files, signal)) {
    const column = leasedColumn(file);
    if (column === undefined) continue;
    const state = await watchLease(() => files.read(`${leaseFolder}/${file}`, signal), { signal });
    if (state.kind === 'busy') throw busy(displayPath(namespacePath, name), call, column, state.holder);
  }
}

async function listLeases(files: TableFiles, signal: AbortSignal | undefined): Promise<readonly string[]> {
  try {
    return await files.list(leaseFolder, signal);
  } catch (error) {
    if (isAbort(error)) throw error;
    // A store that lets this process write tables but not list this folder must not prevent the call: backfills notice
    // and handle the changes of other writers.
    return [];
  }
}

const localFiles = (location: string): TableFiles & Disposable => ({
  list: (folder) => readdir(join(location, folder)).catch(() => []),
  read: (path) => readFile(join(location, path)).catch(() => undefined),
  [Symbol.dispose]: () => undefined,
});

function busy(table: string, call: string, column: string, holder: LeaseHolder | undefined): CatalogError {
  const job = holder ? `the backfill job ${holder.jobId} of ${holder.name}` : 'a backfill job';
  const cancel = holder ? `with "lance-catalog jobs cancel ${holder.jobId}"` : 'where it was started';
  return new CatalogError(
    'ConcurrentModification',
    `Can't ${call} table "${table}": ${job} is computing its column "${column}".`,
    `Wait until the job has finished, or cancel it ${cancel}.`,
  );
}
