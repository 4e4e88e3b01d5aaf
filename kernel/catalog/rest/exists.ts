import { CatalogError, isCatalogError } from '#shared/errors.ts';
import { displayPath, type NamespacePath } from '#shared/names.ts';
import type { CallOptions } from '#catalog/arguments/options.ts';
import { Reply } from './reply.ts';
import type { Wire } from '#catalog/transport/request.ts';

/** "DescribeNamespace". The root is always there. @throws CatalogError NamespaceNotFound (1) */
export async function describeNamespace(
  wire: Wire,
  path: NamespacePath,
  { signal }: CallOptions,
): Promise<{ properties: Record<string, string> }> {
  const body = await wire.json({ operation: 'DescribeNamespace', id: path, json: {}, signal });
  return { properties: new Reply(wire, body).maybeObject('properties')?.textMap() ?? {} };
}

/** "NamespaceExists", or "DescribeNamespace" where a server does not know the first. */
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

/** Whether something exists, as a server says; true where it has no such operation or does not allow it. */
export async function unlessSilent(exists: Promise<boolean>): Promise<boolean> {
  try {
    return await exists;
  } catch (error) {
    if (isCatalogError(error, 'Unsupported') || isCatalogError(error, 'PermissionDenied')) return true;
    throw error;
  }
}

/** Whether a call finds what it asks for; what else it fails of is thrown. */
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
 * Makes sure that a namespace is there before something is put into it: there are servers that put a table into one that
 * nobody created and no list shows. One that can't be asked is left to tell by itself.
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

/** For a call that was about something in the namespace: it is told as that call's own failure, not the question's. */
export const missingNamespace = (path: NamespacePath, cause: unknown): CatalogError =>
  new CatalogError(
    'NamespaceNotFound',
    `Namespace "${displayPath(path)}" does not exist.`,
    'Create it first, or list the namespaces there are.',
    { cause },
  );

/** "TableExists", or "DescribeTable" where a server does not know the first. */
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
