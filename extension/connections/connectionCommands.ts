import * as vscode from 'vscode';
import { CatalogError } from '#shared/errors.ts';
import { askDirectory, pickOne, askText, confirm } from '../host/ask.ts';
import { registerCommand } from '../host/commands.ts';
import type { Log } from '../host/log.ts';
import type { Catalogs } from './catalogs.ts';
import { absoluteRoot, connectionNameProblem, suggestName, connectionLabel } from './connectionRules.ts';
import { rootBase, type Connections } from './connections.ts';
import { isNode, nodePath, type CatalogNode, type Connection, type RestConnection } from '../explorer/node.ts';
import { addServer, editServer, updateKey } from './serverCommands.ts';

type ConnectionCommandDeps = {
  log: Log;
  connections: Connections;
  catalogs: Catalogs;
  view: vscode.TreeView<CatalogNode>;
};

export function registerConnectionCommands(parts: ConnectionCommandDeps): vscode.Disposable {
  const { log, connections, view } = parts;
  const chosen = (node: unknown, question: string, isFit: (one: Connection) => boolean) =>
    chooseConnection(connections, node ?? view.selection[0], question, isFit);
  return vscode.Disposable.from(
    registerCommand(log, 'lanceCatalog.connection.add', (given) => addDirectory(parts, given)),
    registerCommand(log, 'lanceCatalog.connection.addRest', (given) => addServer(parts, given)),
    registerCommand(log, 'lanceCatalog.connection.edit', async (node) => {
      const connection = await chosen(node, 'Select the connection to edit', (one) => isServer(one) && isOwn(one));
      if (connection && isServer(connection)) await editServer(parts, connection);
    }),
    registerCommand(log, 'lanceCatalog.connection.updateKey', async (node) => {
      const connection = await chosen(node, 'Select the connection whose API key to update', isServer);
      if (connection && isServer(connection)) await updateKey(parts, connection);
    }),
    registerCommand(log, 'lanceCatalog.connection.remove', async (node = view.selection[0]) => {
      const connection = isNode(node, 'connection')
        ? node.connection
        : await chooseConnection(connections, undefined, 'Select the connection to remove', isOwn);
      if (connection === undefined) return;
      // No confirmation if the user chose "Remove" on the connection itself.
      if (!isNode(node, 'connection') && !(await confirmRemoval(connection.name))) return;
      await connections.remove(connection.name);
    }),
  );
}

const isServer = (one: Connection): one is RestConnection => one.kind === 'rest';
const isOwn = (one: Connection): boolean => one.source === 'person';

/** Returns the connection of the given row if `isFit` accepts it, else the connection that the user picks. */
export async function chooseConnection(
  connections: Connections,
  node: unknown,
  question: string,
  isFit: (one: Connection) => boolean,
): Promise<Connection | undefined> {
  const fit = connections.list().filter(isFit);
  const named = isNode(node, 'connection', 'damage', 'error') ? nodePath(node).connection : undefined;
  const found = fit.find((one) => one.name === named);
  if (found) return found;
  if (fit.length === 0) {
    throw new CatalogError(
      'InvalidInput',
      'No connection supports this command.',
      'Add one in the Lance Catalog view.',
    );
  }
  return pickOne(
    question,
    fit.map((one) => ({ label: one.name, description: connectionLabel(one), value: one })),
  );
}

async function addDirectory(
  { connections, catalogs, log }: ConnectionCommandDeps,
  given?: { name?: string; root: string },
): Promise<Connection | undefined> {
  const asked = typeof given?.root !== 'string';
  const typed = asked ? await askRoot() : given.root;
  if (typed === undefined) return undefined;
  const root = absoluteRoot(typed, rootBase());
  // The engine checks whether the directory is readable. The engine never creates the root directory.
  await catalogs.checkDirectory(root);
  const suggested = suggestName(root, connections.list());
  const name = asked
    ? await askText({
        title: 'Add Directory (2/2)',
        prompt: `Name of the connection to ${root}`,
        value: suggested,
        check: (value) => connectionNameProblem(value, connections.list()),
      })
    : (given.name ?? suggested);
  if (name === undefined) return undefined;
  log.info(`connected "${name}" to ${root}`);
  return connections.add(name, root);
}

async function askRoot(): Promise<string | undefined> {
  const how = await pickOne('Add a directory of Lance tables', [
    { label: 'Choose a Folder…', icon: 'folder-opened', value: 'choose' as const },
    { label: 'Type a Path…', icon: 'edit', value: 'type' as const },
  ]);
  if (how === undefined) return undefined;
  if (how === 'choose') return askDirectory('Directory of Lance tables');
  const typed = await askText({
    title: 'Add Directory (1/2)',
    prompt: 'The directory that holds the tables',
    placeHolder: '/data/catalog or ~/catalog',
    check: (value) => (value.trim() === '' ? 'Type the path of a directory.' : undefined),
  });
  return typed?.trim();
}

const confirmRemoval = (name: string): Promise<boolean> =>
  confirm(
    `Remove the connection "${name}"?`,
    'The tables are not changed. The stored credentials of the connection are deleted.',
    'Remove',
  );
