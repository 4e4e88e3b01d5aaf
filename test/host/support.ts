import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as vscode from 'vscode';
import type { TableData } from '#catalog/table/tableData.ts';
import type { CatalogNode, NodeOf } from '../../extension/explorer/node.ts';
import type { ExtensionApi } from '../../extension/extension.ts';
import type { CommandId, CommandTypes } from '../../extension/manifest.ts';

/** Returns the result of `activate`; activates the extension if needed. */
export async function extensionApi(): Promise<ExtensionApi> {
  const extension = vscode.extensions.getExtension<ExtensionApi>('lance-catalog.lance-catalog');
  if (!extension) throw new Error('The extension under test is not installed.');
  return extension.activate();
}

/** The folder of this repository, from which the extension under test runs. */
export const repository = (() => {
  const extension = vscode.extensions.getExtension('lance-catalog.lance-catalog');
  if (!extension) throw new Error('The extension under test is not installed.');
  return extension.extensionPath;
})();

/** Runs a command of the manifest. */
export const run = async <K extends CommandId>(id: K, ...args: Parameters<CommandTypes[K]>): Promise<unknown> =>
  vscode.commands.executeCommand(id, ...args);

/** Creates a folder; the suite removes it with `remove`. */
export function temporaryFolder(): { path: string; remove(this: void): void } {
  const path = realpathSync(mkdtempSync(join(tmpdir(), 'lance-host-')));
  // Retry the removal, because a process that just lost its kernel or window may still write a file into the folder.
  return { path, remove: () => rmSync(path, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 }) };
}

/** 1,200 rows: three pages of the panel, the last one partly filled. */
export const orderRows: TableData = Array.from({ length: 1200 }, (_, i) => ({
  id: i,
  note: `order ${i}`,
  embedding: [i, i + 0.5],
}));

/** Creates the namespaces `shop/eu`, with the table `orders`, and the empty `lab` in a directory's catalog. */
export async function makeCatalog(api: ExtensionApi, root: string): Promise<void> {
  const catalog = await api.engine.catalog(root);
  await catalog.createNamespace(['shop']);
  await catalog.createNamespace(['shop', 'eu']);
  await catalog.createNamespace(['lab']);
  await catalog.createTable('orders', orderRows, { namespacePath: ['shop', 'eu'] });
}

/**
 * Returns the rows under the node with these names, as the tree provides them: `rowsAt(api, 'sample', 'shop', 'eu')`.
 */
export async function rowsAt(api: ExtensionApi, ...names: string[]): Promise<CatalogNode[]> {
  let rows = await api.tree.getChildren();
  for (const name of names) {
    const row = rows.find((one) => nameOf(one) === name);
    if (!row) throw new Error(`The tree has no "${name}" among ${rows.map(nameOf).join(', ')}.`);
    rows = await api.tree.getChildren(row);
  }
  return rows;
}

export function nameOf(node: CatalogNode): string {
  switch (node.kind) {
    case 'connection':
      return node.connection.name;
    case 'namespace':
      return node.path.at(-1) ?? '';
    case 'table':
      return node.table;
    case 'column':
      return node.column.name;
    case 'more':
      return `more ${node.what}`;
    case 'damage':
      return `${node.problems.length} problems`;
    case 'empty':
      return node.text;
    case 'error':
      return node.what;
  }
}

export function tableNode(connection: string, path: string[], table: string): NodeOf<'table'> {
  return { kind: 'table', connection, path, table };
}

type Read<T> = T | undefined | false;

/** Waits until `read` returns a value, or a promise of one; fails with `what` at the time limit. */
export async function eventually<T>(what: string, read: () => Read<T> | Promise<Read<T>>, limit = 60_000): Promise<T> {
  for (const end = Date.now() + limit; ;) {
    const value = await read();
    if (value !== undefined && value !== false) return value;
    if (Date.now() > end) throw new Error(`Not within ${limit / 1000} s: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 30));
  }
}

/** Returns the error messages for the user while `act` runs, without showing them. */
export async function failuresOf(act: () => Promise<unknown>): Promise<string[]> {
  const told: string[] = [];
  const { showErrorMessage } = vscode.window;
  Object.assign(vscode.window, {
    showErrorMessage: (message: string) => (told.push(message), Promise.resolve(undefined)),
  });
  try {
    await act();
  } finally {
    Object.assign(vscode.window, { showErrorMessage });
  }
  return told;
}

/** Runs an action while a function of VS Code's window is replaced. */
export async function replacing(
  name: 'createWebviewPanel' | 'showInformationMessage' | 'showInputBox' | 'showSaveDialog' | 'showWarningMessage',
  standIn: unknown,
  act: () => Promise<unknown>,
): Promise<void> {
  const original = vscode.window[name];
  Object.assign(vscode.window, { [name]: standIn });
  try {
    await act();
  } finally {
    Object.assign(vscode.window, { [name]: original });
  }
}
