import { createHash } from 'node:crypto';
import { identityOfRoot } from '#catalog/identity.ts';
import { transportOptionsOf } from '#catalog/rest/config.ts';
import { isObjectStore, localRoot } from '#catalog/root.ts';
import type { CatalogConfig } from '#shared/catalogConfig.ts';
import type { BackfillRequest, TableReference } from '#shared/jobs/backfill.ts';
import type { JobTable } from '#shared/jobs/jobView.ts';

/** Describes the table of a job for display. */
export function toJobTable({ catalog, connection, namespacePath, name }: TableReference): JobTable {
  const place = catalog.implementation === 'dir' ? catalog.root : catalog.uri;
  return { catalog: connection ?? place, implementation: catalog.implementation, namespacePath, name };
}

/** Returns a hash that is equal for jobs that write the same column of the same table. */
export function jobKey({ table, column }: BackfillRequest): string {
  const parts = [identityOf(table.catalog), table.namespacePath, table.name, column];
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex');
}

/** Resolves paths for a process with another working directory. */
export function withAbsolutePaths(request: BackfillRequest): BackfillRequest {
  const { table, ray } = request;
  const { catalog } = table;
  // The search for the profile starts in a folder. If `ray` names no folder, it starts in the current folder of this
  // process, so the path of that folder is added here.
  const asked = ray && 'profile' in ray ? { ...request, ray: { folder: process.cwd(), ...ray } } : request;
  if (catalog.implementation !== 'dir' || isObjectStore(catalog.root)) return asked;
  return { ...asked, table: { ...table, catalog: { ...catalog, root: localRoot(catalog.root) } } };
}

function identityOf(config: CatalogConfig): string {
  if (config.implementation === 'dir') return identityOfRoot(config.root, config.storageOptions);
  return transportOptionsOf(config).identity;
}
