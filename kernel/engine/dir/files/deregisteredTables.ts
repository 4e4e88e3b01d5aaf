import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Connection, Table as NativeTable } from '@lancedb/lancedb';
import { quotedText } from '#shared/sqlTokens.ts';
import { datasetName, withDataset } from '#engine/dir/dataset.ts';
import type { Root } from '#engine/dir/dirConnection.ts';
import { engineError, isTableWithoutData, tableSubject } from '#engine/errors/engineErrors.ts';
import { isCatalogError } from '#shared/errors.ts';
import { idDelimiter, type NamespacePath } from '#shared/names.ts';
import { namespaceId, withManifestLock } from './manifestTable.ts';

// The folders of all namespaces are side by side in the root, so a location does not show which namespace it belongs to.
// `__deregistered` is a Lance table with a row for each deregistered table: its folder, and its identifier at that time.
// A client that is limited to a namespace can register a folder only if every row of the folder has an identifier in
// this namespace. So it can't register a table that has left the namespace, wherever that table was deregistered.
//
// Rows are added and never replaced. If a process is killed before it adds a row, or another program deregisters the
// table, the folder has no row, and only clients without this limit can register it.
//
// The rows are not in the folders of the tables, because the server gives clients credentials that write there.

/** Not a valid location of a table, so no client can register it or change it. */
const recordsFolder = '__deregistered';
const columns = { location: 'location', id: 'object_id' } as const;

/** Records that a table was deregistered whose files stay in a folder. */
export const recordDeregistered = (place: Root, folder: string, id: string): Promise<void> =>
  withManifestLock(place, async () => {
    if (place.isLocal) await mkdir(join(place.location, recordsFolder), { recursive: true });
    await withDataset(place, recordsFolder, async (connection) => {
      const row = { [columns.location]: folder, [columns.id]: id };
      const records = await openRecords(connection);
      if (records) await closing(records, () => records.add([row]));
      else (await connection.createTable(datasetName, [row])).close();
    });
  });

/**
 * Removes the rows of a folder, which must be done before the folder is registered.
 * @param within keeps the rows unless the table was deregistered in this namespace
 * @returns the identifier of the deregistered table; undefined if there is no row, or if the rows were kept
 */
export const takeDeregistered = (place: Root, folder: string, within: NamespacePath): Promise<string | undefined> =>
  withManifestLock(place, () =>
    withDataset(place, recordsFolder, async (connection) => {
      const records = await openRecords(connection);
      return records && closing(records, () => take(records, folder, namespaceId(within)));
    }),
  );

async function take(records: NativeTable, folder: string, namespace: string | undefined): Promise<string | undefined> {
  const where = `${columns.location} = ${quotedText(folder)}`;
  const rows: unknown[] = await records.query().where(where).select([columns.id]).toArray();
  const ids = rows.map((row) => (row as { [columns.id]: string })[columns.id]);
  const isIn = (id: string): boolean => namespace === undefined || id.startsWith(namespace + idDelimiter);
  if (ids.length === 0 || !ids.every(isIn)) return undefined;
  const { numDeletedRows } = await records.delete(where);
  return numDeletedRows > 0 ? ids[0] : undefined;
}

/** Opens the table of records; undefined until a first table is deregistered. */
async function openRecords(connection: Connection): Promise<NativeTable | undefined> {
  try {
    return await connection.openTable(datasetName);
  } catch (error) {
    const told = engineError(error, tableSubject(recordsFolder, []));
    if (isCatalogError(told, 'TableNotFound') || isTableWithoutData(told)) return undefined;
    throw told;
  }
}

async function closing<T>(table: NativeTable, call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } finally {
    table.close();
  }
}
