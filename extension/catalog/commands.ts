import * as vscode from 'vscode';
import type { Catalog } from '#client/catalog.ts';
import { CatalogError } from '#shared/errors.ts';
import { displayPath } from '#shared/names.ts';
import { askDirectory, askOne, askText, confirm } from '../host/ask.ts';
import { registerCommand } from '../host/commands.ts';
import type { Log } from '../host/log.ts';
import { absoluteRoot, connectionNameProblem, suggestName } from './connectionRules.ts';
import { rootBase, type Connections } from './connections.ts';
import { isNode, placeOf, type CatalogNode, type Connection, type NodeOf } from './node.ts';
import type { CatalogTree } from './tree.ts';

export type CatalogCommandParts = {
  log: Log;
  connections: Connections;
  tree: CatalogTree;
  view: vscode.TreeView<CatalogNode>;
  /** The catalog over a directory that may not be in the list yet. */
  openDirectory: (root: string) => Promise<Catalog>;
};

/** The commands of the catalog view; those that open a table are with the panel and the notebook. */
export function registerCatalogCommands(parts: CatalogCommandParts): vscode.Disposable {
  const { log, connections, tree, view } = parts;
  const selected = (): CatalogNode | undefined => view.selection[0];
  return vscode.Disposable.from(
    registerCommand(log, 'lanceCatalog.connection.add', (given) => addConnection(parts, given)),
    registerCommand(log, 'lanceCatalog.connection.remove', async (node = selected()) => {
      const connection = isNode(node, 'connection') ? node.connection.name : await askConnection(connections);
      if (connection === undefined) return;
      // Asked only where the person did not point at the connection and choose "Remove" on it.
      if (!isNode(node, 'connection') && !(await confirmRemoval(connection))) return;
      await connections.remove(connection);
    }),
    registerCommand(log, 'lanceCatalog.catalog.refresh', (node) => tree.refresh(isAnyNode(node) ? node : undefined)),
    // A command of its own: the editor hands a button in the title of a view whatever row is selected.
    registerCommand(log, 'lanceCatalog.catalog.refreshAll', () => tree.refresh()),
    registerCommand(log, 'lanceCatalog.catalog.loadMore', async (node = selected()) => {
      if (isNode(node, 'more')) await tree.loadMore(node);
    }),
    registerCommand(log, 'lanceCatalog.catalog.copyIdentifier', async (node = selected()) =>
      copy(node, (path) => displayPath(path)),
    ),
    registerCommand(log, 'lanceCatalog.catalog.copyPath', async (node = selected()) =>
      copy(node, (path) => JSON.stringify(path)),
    ),
    registerCommand(log, 'lanceCatalog.log.show', () => log.show()),
  );
}

/** The table that a command is about: what it was given, else what is selected. @throws CatalogError InvalidInput (13) */
export function tableOf(node: unknown, view: vscode.TreeView<CatalogNode>): NodeOf<'table'> {
  const found = node ?? view.selection[0];
  if (isNode(found, 'table')) return found;
  if (isNode(found, 'column')) {
    return { kind: 'table', connection: found.connection, path: found.path, table: found.table };
  }
  throw new CatalogError('InvalidInput', 'No table is selected.', 'Select one in the Lance Catalog view.');
}

const isAnyNode = (value: unknown): value is CatalogNode =>
  isNode(value, 'connection', 'namespace', 'table', 'column', 'more', 'empty', 'error');

async function copy(node: unknown, write: (path: string[]) => string): Promise<void> {
  if (!isNode(node, 'namespace', 'table', 'column')) return;
  const parts = [...placeOf(node).path];
  if (node.kind !== 'namespace') parts.push(node.table);
  if (node.kind === 'column') return vscode.env.clipboard.writeText(node.column.name);
  return vscode.env.clipboard.writeText(write(parts));
}

async function addConnection(
  { connections, openDirectory, log }: CatalogCommandParts,
  given?: { name?: string; root: string },
): Promise<Connection | undefined> {
  const asked = typeof given?.root !== 'string';
  const typed = asked ? await askRoot() : given.root;
  if (typed === undefined) return undefined;
  const root = absoluteRoot(typed, rootBase());
  // The engine itself says whether it can read there; a root is never made.
  const catalog = await openDirectory(root);
  await catalog.listNamespaces([], { limit: 1 });
  const suggested = suggestName(root, connections.list());
  const name = asked
    ? await askText({
        title: 'Add Directory (2/2)',
        prompt: `A name for ${root}`,
        value: suggested,
        check: (value) => connectionNameProblem(value, connections.list()),
      })
    : (given.name ?? suggested);
  if (name === undefined) return undefined;
  log.info(`connected "${name}" to ${root}`);
  return connections.add(name, root);
}

async function askRoot(): Promise<string | undefined> {
  const how = await askOne('Add a directory of Lance tables', [
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

async function askConnection(connections: Connections): Promise<string | undefined> {
  const own = connections.list().filter((one) => one.source === 'person');
  if (own.length === 0) {
    throw new CatalogError('InvalidInput', 'There is no connection to remove.', 'Add one in the Lance Catalog view.');
  }
  return askOne(
    'Remove which connection?',
    own.map((one) => ({ label: one.name, description: one.root, value: one.name })),
  );
}

const confirmRemoval = (name: string): Promise<boolean> =>
  confirm(`Remove the connection "${name}"?`, 'The tables stay where they are.', 'Remove');
