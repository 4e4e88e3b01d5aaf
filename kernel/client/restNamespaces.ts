import { CatalogError, isCatalogError } from '#shared/errors.ts';
import { displayPath, type NamespacePath } from '#shared/names.ts';
import type { CallOptions } from './callOptions.ts';
import type { CreateMode } from './catalog.ts';
import { allPages } from './pages.ts';
import { tableHasName } from './nameErrors.ts';
import { isThere, namespaceExists, unlessSilent } from './restExists.ts';
import { listPage } from './restLists.ts';
import type { Wire } from './wireRequest.ts';

// Namespaces on a server. What the specification leaves to servers, and some ignore, is made good here.

/** "CreateNamespace". @throws CatalogError NamespaceAlreadyExists (2), NamespaceNotFound (1) for a missing parent */
export async function createNamespace(
  wire: Wire,
  path: NamespacePath,
  mode: CreateMode,
  properties: Record<string, string> | undefined,
  { signal }: CallOptions,
): Promise<void> {
  if (path.length === 0 && mode === 'exist_ok') return;
  const json = { mode, ...(properties && { properties }) };
  try {
    await wire.json({ operation: 'CreateNamespace', id: path, json, signal });
  } catch (error) {
    if (!isCatalogError(error, 'NamespaceAlreadyExists') || mode === 'create') throw error;
    // It kept the namespace, which is what was asked for, unless it says the same of a table …
    if (mode === 'exist_ok') {
      if (await unlessSilent(namespaceExists(wire, path, { signal }))) return;
      throw tableHasName(path, error);
    }
    // … or should not have: what to do with all that it holds is not guessed.
    const what = `${wire.name} does not overwrite namespaces, and "${displayPath(path)}" exists already.`;
    const hint = 'Drop it with behavior: "cascade" and create it again.';
    throw new CatalogError('Unsupported', what, hint, { cause: error });
  }
}

/** "DropNamespace". @throws CatalogError NamespaceNotFound (1), NamespaceNotEmpty (3), InvalidInput (13) for the root */
export async function dropNamespace(
  wire: Wire,
  path: NamespacePath,
  { mode, behavior }: { mode: 'fail' | 'skip'; behavior: 'restrict' | 'cascade' },
  options: CallOptions,
): Promise<void> {
  if (path.length === 0) {
    throw new CatalogError('InvalidInput', "The root namespace can't be dropped.", 'Name a namespace in it.');
  }
  const { signal } = options;
  const drop = () => wire.json({ operation: 'DropNamespace', id: path, json: { mode, behavior }, signal });
  try {
    try {
      await drop();
    } catch (error) {
      if (behavior !== 'cascade' || !isCatalogError(error, 'NamespaceNotEmpty')) throw error;
      await dropContents(wire, path, options);
      await drop();
    }
  } catch (error) {
    if (mode !== 'skip' || !isCatalogError(error, 'NamespaceNotFound')) throw error;
  }
}

/** Deeper than any catalog goes: a server that invents children would keep this busy for ever. */
const maxDepth = 100;

/** Drops what a namespace holds, the innermost first. What somebody else drops meanwhile is as good. */
async function dropContents(wire: Wire, path: NamespacePath, options: CallOptions): Promise<void> {
  if (path.length > maxDepth) throw wire.unexpected('namespaces without end');
  const { signal } = options;
  const names = (operation: 'ListNamespaces' | 'ListTables') =>
    allPages((pageToken) => listPage(wire, operation, path, { limit: 1000, pageToken, signal }));
  for (const name of await names('ListNamespaces')) {
    const child = [...path, name];
    await isThere('NamespaceNotFound', async () => {
      await dropContents(wire, child, options);
      await wire.json({ operation: 'DropNamespace', id: child, json: {}, signal });
    });
  }
  for (const name of await names('ListTables')) {
    const drop = () => wire.json({ operation: 'DropTable', id: [...path, name], json: {}, signal });
    await isThere('TableNotFound', drop);
  }
}
