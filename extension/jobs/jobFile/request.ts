import * as path from 'node:path';
import { checkAddress } from '#catalog/root.ts';
import { JobError } from '#shared/jobs/jobErrors.ts';
import type { BackfillRequest, TableReference } from '#shared/jobs/backfill.ts';
import type { JobFile } from '#shared/jobs/jobFile.ts';
import type { FunctionSource } from '#shared/jobs/jobMessages.ts';
import type { JobTable } from '#shared/jobs/jobView.ts';
import type { Connection } from '../../explorer/node.ts';
import { cleanAddress } from '../../connections/restRules.ts';
import type { TablePlace } from '../../panels/tableSource.ts';
import type { JobsHost } from '../jobsHost.ts';
import type { TableReferences } from '../tableReferences.ts';

export type JobFileDeps = {
  readonly host: Pick<JobsHost, 'request'>;
  readonly references: Pick<TableReferences, 'of' | 'tableOf' | 'withRay'>;
  readonly connections: { list(): readonly Connection[] };
};

/** The table of a job file: in a connection, or in a catalog without a connection. */
type JobFileTable =
  | { readonly kind: 'connected'; readonly place: TablePlace }
  | { readonly kind: 'bare'; readonly reference: TableReference; readonly table: JobTable };

/**
 * Returns the table that a job file names.
 * @param folder the file's folder, base of a relative catalog path
 * @throws JobError RequestInvalid if the file names an unknown connection, or if it names neither a connection nor a
 * catalog and there is not exactly one connection
 */
export function tableOfFile(
  { connections }: Pick<JobFileDeps, 'connections'>,
  file: JobFile,
  folder: string,
): JobFileTable {
  const list = connections.list();
  const [table = '', namespacePath] = [file.table.at(-1), file.table.slice(0, -1)];
  const connected = (connection: string): JobFileTable => ({
    kind: 'connected',
    place: { connection, path: namespacePath, table },
  });
  if (file.connection !== undefined) {
    if (list.some(({ name }) => name === file.connection)) return connected(file.connection);
    throw new JobError('RequestInvalid', `There is no connection "${file.connection}".`, knownHint(list));
  }
  if (file.catalog === undefined) {
    const [only] = list;
    if (only && list.length === 1) return connected(only.name);
    throw new JobError(
      'RequestInvalid',
      'The job file sets no catalog.',
      `Add "connection" or "catalog" to it. ${knownHint(list)}`,
    );
  }
  if (/^https?:\/\//i.test(file.catalog)) {
    const uri = cleanAddress(file.catalog);
    const { database } = file;
    const found = list.find(
      (one) => one.kind === 'rest' && one.uri === uri && (database ?? one.database) === one.database,
    );
    if (found) return connected(found.name);
    const catalog = { implementation: 'rest' as const, uri, ...(database !== undefined && { database }) };
    return bare({ catalog, namespacePath, name: table }, uri);
  }
  const root = checkAddress(file.catalog) ? file.catalog : path.resolve(folder, file.catalog);
  const found = list.find((one) => one.kind === 'dir' && one.root === root);
  if (found) return connected(found.name);
  return bare({ catalog: { implementation: 'dir', root }, namespacePath, name: table }, root);
}

const bare = (reference: TableReference, catalog: string): JobFileTable => ({
  kind: 'bare',
  reference,
  table: {
    catalog,
    implementation: reference.catalog.implementation,
    namespacePath: reference.namespacePath,
    name: reference.name,
  },
});

const knownHint = (list: readonly Connection[]): string =>
  list.length === 0
    ? 'Add one with "Add Directory…" or "Add REST Connection…".'
    : `Existing connections: ${list.map(({ name }) => `"${name}"`).join(', ')}.`;

/**
 * Returns the request of a job file. Reads the function and the stored secrets, but runs no code.
 * @throws JobError, CatalogError if the file is not valid
 */
export async function requestOfFile(
  parts: JobFileDeps,
  file: JobFile,
  folder: string,
  signal: AbortSignal,
): Promise<{ readonly request: BackfillRequest; readonly table: JobTable }> {
  const meant = tableOfFile(parts, file, folder);
  const reference = meant.kind === 'bare' ? meant.reference : await parts.references.of(meant.place);
  const table = meant.kind === 'bare' ? meant.table : parts.references.tableOf(meant.place);
  const { column } = file;
  const source = file.function && sourceFrom(file.function, folder);
  const made = source && (await parts.host.request('readFunction', { table: reference, column, source }, signal));
  const options = await parts.references.withRay(file.options);
  return { request: { ...options, table: reference, column, ...(made && { function: made }) }, table };
}

const sourceFrom = (source: FunctionSource, folder: string): FunctionSource =>
  source.kind === 'sql' ? source : { ...source, file: path.resolve(folder, source.file) };
