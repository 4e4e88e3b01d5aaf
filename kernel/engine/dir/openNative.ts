import type { Connection, Table as NativeTable } from '@lancedb/lancedb';
import { CatalogError } from '#shared/errors.ts';
import { mainBranch, type NamespacePath } from '#shared/names.ts';
import type { CallOptions } from '#catalog/arguments/options.ts';
import { checkTagBranch } from '#catalog/table/tagsBranches.ts';
import { branchNotFound } from './dirRefs.ts';
import { callEngine, tableSubject } from '#engine/errors/engineErrors.ts';
import type { Pin } from './sharedTables.ts';

/**
 * Opens a table of the engine at its newest version, or as `pin` specifies.
 * @throws CatalogError TableNotFound (4), VersionNotFound (11), TagNotFound (8), BranchNotFound (22)
 */
export async function openNative(
  connection: Connection,
  name: string,
  path: NamespacePath,
  pin: Pin,
  options: CallOptions,
): Promise<NativeTable> {
  if (pin.version !== undefined && pin.tag !== undefined) {
    throw new CatalogError('InvalidInput', 'openTable was given a version and a tag.', 'Pass only one of them.');
  }
  let opening: Promise<NativeTable> | undefined;
  try {
    return await callEngine(tableSubject(name, path, pin.version), options.signal, () => {
      opening = open(connection, name, path, pin);
      return opening;
    });
  } catch (error) {
    // After an abort the table is still being opened, so it has to be closed later.
    opening?.then(
      (late) => late.close(),
      () => undefined,
    );
    throw error;
  }
}

async function open(connection: Connection, name: string, path: NamespacePath, pin: Pin): Promise<NativeTable> {
  const { version, tag, branch } = pin;
  if (branch === undefined && tag === undefined) {
    return connection.openTable(name, [...path], version === undefined ? {} : { version });
  }
  const table = await connection.openTable(name, [...path]);
  try {
    const line = branch === undefined || branch === mainBranch ? table : await onBranch(table, branch);
    if (tag !== undefined) {
      // Switches to the branch of the tag, regardless of the current branch.
      await line.checkout(tag);
      checkTagBranch(tag, line.currentBranch() ?? undefined, branch);
    }
    if (version !== undefined) await line.checkout(version);
    return line;
  } catch (error) {
    table.close();
    throw error;
  }
}

async function onBranch(table: NativeTable, branch: string): Promise<NativeTable> {
  const branches = await table.branches();
  // The engine reports a missing branch as a broken table.
  if (!(branch in (await branches.list()))) throw branchNotFound(branch);
  const line = await branches.checkout(branch);
  table.close();
  return line;
}
