import { CatalogError, isCatalogError } from '#shared/errors.ts';
import { displayPath, type NamespacePath } from '#shared/names.ts';
import { nextSteps } from '#shared/nextSteps.ts';
import type { CallOptions } from '#catalog/arguments/options.ts';
import { Reply } from './reply.ts';
import type { Wire } from '#catalog/transport/request.ts';

/** Properties with settings of the storage, which may be keys of the server's own. */
const storageProperty = /^(?:lance\.)?storage\./;

/**
 * "DescribeNamespace", without settings of the storage: cells show the properties, and copies write them to other
 * catalogs. The root always exists.
 * @throws CatalogError NamespaceNotFound (1)
 */
export async function describeNamespace(
  wire: Wire,
  path: NamespacePath,
  { signal }: CallOptions,
): Promise<{ properties: Record<string, string> }> {
  const body = await wire.json({ operation: 'DescribeNamespace', id: path, json: {}, signal });
  const properties = new Reply(wire, body).maybeObject('properties')?.textMap() ?? {};
  return {
    properties: Object.fromEntries(Object.entries(properties).filter(([name]) => !storageProperty.test(name))),
  };
}

/** "NamespaceExists", or "DescribeNamespace" if the server does not support it. */
export async function namespaceExists(wire: Wire, path: NamespacePath, options: CallOptions): Promise<boolean> {
  const { signal } = options;
  return isThere('NamespaceNotFound', async () => {
    try {
      await wire.json({ operation: 'NamespaceExists', id: path, json: {}, signal });
    } catch (error) {
      if (!isCatalogError(error, 'Unsupported')) throw error;
      await describeNamespace(wire, path, options);
    }
  });
}

/** Returns whether something exists; true if the server does not support the check or denies permission. */
export async function unlessSilent(exists: Promise<boolean>): Promise<boolean> {
  try {
    return await exists;
  } catch (error) {
    if (isCatalogError(error, 'Unsupported') || isCatalogError(error, 'PermissionDenied')) return true;
    throw error;
  }
}

/** Returns false if a call fails because its object does not exist; throws all other errors. */
export async function isThere(
  missing: 'NamespaceNotFound' | 'TableNotFound',
  call: () => Promise<unknown>,
): Promise<boolean> {
  try {
    await call();
    return true;
  } catch (error) {
    if (isCatalogError(error, missing) || isCatalogError(error, 'NamespaceNotFound')) return false;
    throw error;
  }
}

/**
 * Checks that a namespace exists before something is put into it, because some servers put tables into namespaces that
 * were never created and that no list shows. If the server can't answer, the check passes, and the call that follows
 * reports a missing namespace.
 * @throws CatalogError NamespaceNotFound (1)
 */
export async function mustExist(wire: Wire, path: NamespacePath, options: CallOptions): Promise<void> {
  if (path.length === 0) return;
  try {
    await describeNamespace(wire, path, options);
  } catch (error) {
    if (isCatalogError(error, 'NamespaceNotFound')) throw missingNamespace(path, error);
    if (!isCatalogError(error, 'Unsupported') && !isCatalogError(error, 'PermissionDenied')) throw error;
  }
}

/**
 * The error of a call about something in a namespace that does not exist. It names the object of that call, not the
 * check of the namespace.
 */
export const missingNamespace = (path: NamespacePath, cause: unknown): CatalogError =>
  new CatalogError('NamespaceNotFound', `Namespace "${displayPath(path)}" does not exist.`, nextSteps.listNamespaces, {
    cause,
  });

/** "TableExists", or "DescribeTable" if the server does not support it. */
export async function tableExists(wire: Wire, id: readonly string[], { signal }: CallOptions): Promise<boolean> {
  return isThere('TableNotFound', async () => {
    try {
      await wire.json({ operation: 'TableExists', id, json: {}, signal });
    } catch (error) {
      if (!isCatalogError(error, 'Unsupported')) throw error;
      await wire.json({ operation: 'DescribeTable', id, json: {}, signal });
    }
  });
}
