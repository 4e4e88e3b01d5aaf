import { stat } from 'node:fs/promises';
import * as path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import * as vscode from 'vscode';
import { CatalogError } from '#shared/errors.ts';
import { pickOne, askText, confirm } from '../host/ask.ts';
import { askFolder } from '../host/askPath.ts';
import { endStep, registerCommand } from '../host/commands.ts';
import type { Log } from '../host/log.ts';
import { showInformation } from '../host/messages.ts';
import type { Catalogs } from './catalogs.ts';
import { absoluteRoot, connectionNameProblem, connectionTo, suggestName, connectionLabel } from './connectionRules.ts';
import { rootBase, type Connections } from './connections.ts';
import { isNode, nodeId, nodePath, type CatalogNode, type Connection, type RestConnection } from '../explorer/node.ts';
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
    registerCommand(log, 'lanceCatalog.connection.add', async (given) =>
      reveal(parts, await addDirectory(parts, given)),
    ),
    registerCommand(log, 'lanceCatalog.connection.addRest', async (given) =>
      reveal(parts, await addServer(parts, given)),
    ),
    registerCommand(log, 'lanceCatalog.connection.copyLocation', async (node = view.selection[0]) => {
      if (!isNode(node, 'connection') || node.connection.kind === 'other') return;
      const { connection } = node;
      await vscode.env.clipboard.writeText(connection.kind === 'dir' ? connection.root : connection.uri);
    }),
    registerCommand(log, 'lanceCatalog.connection.openSettings', async () => {
      await vscode.commands.executeCommand('workbench.action.openSettings', 'lanceCatalog.defaultConnections');
    }),
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
      // No confirmation if the user chose "Remove" on the connection itself, unless credentials would be lost.
      const isAsked = !isNode(node, 'connection') || (isServer(connection) && isOwn(connection));
      if (isAsked && !(await confirmRemoval(connection.name))) return;
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
  // The engine checks whether the directory is readable. The engine never creates the root directory.
  const check = (root: string): Promise<void> => catalogs.checkDirectory(root);
  const typed = asked ? await askRoot(check) : given.root;
  if (typed === undefined) return undefined;
  const root = absoluteRoot(typed, rootBase());
  if (!asked) await check(root);
  const known = await connectionTo(root, connections.list());
  if (known && given?.name === undefined) {
    void showInformation(`This folder is already in the list as "${known.name}".`);
    return known;
  }
  const suggested = suggestName(root, connections.list());
  const name = asked
    ? await askText({
        title: 'Add Directory (2/2)',
        prompt: `Name shown in the tree for ${root}`,
        value: suggested,
        check: (value) => connectionNameProblem(value, connections.list()),
      })
    : (given.name ?? suggested);
  if (name === undefined) return undefined;
  log.info(`connected "${name}" to ${root}`);
  return connections.add(name, root);
}

/** When a hidden view opens, VS Code may draw it twice, and the second drawing loses the selection. So try again. */
const revealTries = 5;
const drawMs = 300;

/** Selects a new connection in the tree, opens the view if it is hidden, and ends the step of the walkthrough. */
function reveal<C extends Connection>(parts: ConnectionCommandDeps, connection: C | undefined): C | undefined {
  const { log, view } = parts;
  if (connection) {
    endStep('lanceCatalog.connection.added');
    // The command has succeeded already, so it does not wait for the selection.
    select(view, { kind: 'connection', connection }).catch((error: unknown) =>
      log.debug(`can't select the new connection in the tree: ${String(error)}`),
    );
  }
  return connection;
}

async function select(view: vscode.TreeView<CatalogNode>, node: CatalogNode): Promise<void> {
  for (let tries = 0; tries < revealTries; tries++) {
    await view.reveal(node, { select: true, focus: false, expand: true });
    await sleep(drawMs);
    if (view.selection.some((row) => nodeId(row) === nodeId(node))) return;
  }
}

const askRoot = (check: (root: string) => Promise<void>): Promise<string | undefined> =>
  askFolder({
    title: 'Add Directory (1/2)',
    placeHolder: 'Paste the path of a folder with Lance tables, such as /data/catalog or ~/catalog',
    accept: async (typed) => {
      const root = absoluteRoot(typed, rootBase());
      await requireFolder(root);
      await check(root);
    },
  });

/**
 * @throws CatalogError NamespaceNotFound (1) if a root on this machine is not a folder, InvalidInput (13) if the folder is
 * a table
 */
async function requireFolder(root: string): Promise<void> {
  if (!path.isAbsolute(root)) return;
  const found = await stat(root).catch(() => undefined);
  if (found?.isDirectory() === true) {
    const versions = await stat(path.join(root, '_versions')).catch(() => undefined);
    if (versions?.isDirectory() !== true) return;
    throw new CatalogError(
      'InvalidInput',
      `${path.basename(root)} is a Lance table, not a folder of tables.`,
      `Add the folder above it: ${path.dirname(root)}`,
    );
  }
  throw new CatalogError('NamespaceNotFound', `No folder at ${root}.`, 'Check the spelling.');
}

const confirmRemoval = (name: string): Promise<boolean> =>
  confirm(
    `Remove the connection "${name}"?`,
    'The tables are not changed. The stored credentials of the connection are deleted.',
    'Remove',
  );
