import * as vscode from 'vscode';
import { CatalogError } from '#shared/errors.ts';
import { displayPath } from '#shared/names.ts';
import { registerCommand } from '../host/commands.ts';
import type { Log } from '../host/log.ts';
import { isNode, nodePath, type CatalogNode, type NodeOf } from './node.ts';
import type { CatalogTree } from './tree.ts';

type CatalogCommandDeps = {
  log: Log;
  tree: CatalogTree;
  view: vscode.TreeView<CatalogNode>;
};

/**
 * Registers the commands of the catalog view itself. Other files register the commands that manage connections, change
 * a catalog or open a table.
 */
export function registerCatalogCommands({ log, tree, view }: CatalogCommandDeps): vscode.Disposable {
  const selected = (): CatalogNode | undefined => view.selection[0];
  return vscode.Disposable.from(
    registerCommand(log, 'lanceCatalog.catalog.refresh', (node) => tree.refresh(isAnyNode(node) ? node : undefined)),
    // The button in the view title has a separate command. VS Code passes the selected row to such a button, and
    // `refresh` would refresh only that row.
    registerCommand(log, 'lanceCatalog.catalog.refreshAll', () => tree.refresh()),
    registerCommand(log, 'lanceCatalog.catalog.loadMore', async (node = selected()) => {
      const first = isNode(node, 'more') ? await tree.loadMore(node) : undefined;
      // Otherwise the "more" row would take the focus below the new rows.
      if (first && view.visible) await view.reveal(first, { select: true, focus: true });
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

/**
 * Returns the table of the command's argument, else of the selected row.
 * @throws CatalogError InvalidInput (13) if the row is neither a table nor a column
 */
export function tableOf(node: unknown, view: vscode.TreeView<CatalogNode>): NodeOf<'table'> {
  const found = node ?? view.selection[0];
  if (isNode(found, 'table')) return found;
  if (isNode(found, 'column')) {
    return { kind: 'table', connection: found.connection, path: found.path, table: found.table };
  }
  throw new CatalogError('InvalidInput', 'No table is selected.', 'Select one in the Lance Catalog view.');
}

const isAnyNode = (value: unknown): value is CatalogNode =>
  isNode(value, 'connection', 'namespace', 'table', 'column', 'more', 'damage', 'empty', 'error');

async function copy(node: unknown, write: (path: string[]) => string): Promise<void> {
  if (!isNode(node, 'namespace', 'table', 'column')) return;
  const parts = [...nodePath(node).path];
  if (node.kind !== 'namespace') parts.push(node.table);
  if (node.kind === 'column') return vscode.env.clipboard.writeText(node.column.name);
  return vscode.env.clipboard.writeText(write(parts));
}
