import * as vscode from 'vscode';
import type { Catalog } from '#catalog/catalog.ts';
import { CatalogError } from '#shared/errors.ts';
import { countText } from '#shared/format/numbers.ts';
import { displayPath, nameProblem } from '#shared/names.ts';
import { confirm, withProgress } from '../host/ask.ts';
import { askStep } from '../host/askStep.ts';
import { registerCommand } from '../host/commands.ts';
import { showInformation } from '../host/messages.ts';
import type { Log } from '../host/log.ts';
import type { Abilities } from '../connections/abilities.ts';
import { columnsProblem, columnTypes, schemaOf } from './columnText.ts';
import { tableOf } from './commands.ts';
import { countContents, formatContents, plural } from './contents.ts';
import { isNode, isWithin, nodePath, type CatalogNode, type NodeOf, type CatalogLocation } from './node.ts';
import type { TablePanels } from '../panels/tablePanels.ts';
import type { CatalogTree } from './tree.ts';

type ChangeCommandDeps = {
  log: Log;
  tree: CatalogTree;
  view: vscode.TreeView<CatalogNode>;
  abilities: Abilities;
  catalogOf: (connection: string) => Promise<Catalog>;
  /** Panels that may show a table that is dropped or renamed. */
  panels: Pick<TablePanels, 'lose' | 'follow'>;
};

/**
 * Registers the tree commands that change a catalog. Each command first shows the full path and asks for confirmation
 * or input.
 */
export function registerChangeCommands(parts: ChangeCommandDeps): vscode.Disposable {
  const { log, view } = parts;
  return vscode.Disposable.from(
    registerCommand(log, 'lanceCatalog.namespace.create', (node) => createNamespace(parts, containerOf(node, view))),
    registerCommand(log, 'lanceCatalog.namespace.drop', (node) => dropNamespace(parts, namespaceOf(node, view))),
    registerCommand(log, 'lanceCatalog.table.create', (node) => createTable(parts, containerOf(node, view))),
    registerCommand(log, 'lanceCatalog.table.rename', (node) => renameTable(parts, tableOf(node, view))),
    registerCommand(log, 'lanceCatalog.table.optimize', (node) => optimizeTable(parts, tableOf(node, view))),
    registerCommand(log, 'lanceCatalog.table.drop', (node) => dropTable(parts, tableOf(node, view))),
  );
}

async function createNamespace(parts: ChangeCommandDeps, { connection, path }: CatalogLocation): Promise<void> {
  const answer = await askStep({
    title: 'New Namespace',
    prompt: `A name for the new namespace in ${where({ connection, path })}`,
    check: (name) => sentence(nameProblem('namespace', name)),
    accept: (name, signal) =>
      change(parts, connection, (catalog) => catalog.createNamespace([...path, name], { signal })),
  });
  if (typeof answer !== 'object') return;
  await show(parts, { kind: 'namespace', connection, path: [...path, answer.value] });
}

async function createTable(parts: ChangeCommandDeps, { connection, path }: CatalogLocation): Promise<void> {
  const title = 'New Table';
  let table: string | undefined;
  let columns = 'id int64';
  for (;;) {
    const prompt = `A name for the new table in ${where({ connection, path })}`;
    const named = await askStep({
      title,
      step: { number: 1, of: 2 },
      prompt,
      value: table ?? '',
      check: tableNameProblem,
    });
    if (typeof named !== 'object') return;
    const name = (table = named.value);
    const typed = await askStep({
      title,
      step: { number: 2, of: 2 },
      prompt: `The columns of "${name}", separated by commas, each a name and a type: ${columnTypes}`,
      placeHolder: 'id int64, note string, embedding vector[768]',
      value: columns,
      check: columnsProblem,
      accept: async (text, signal) => {
        columns = text;
        await change(parts, connection, async (catalog) => {
          await catalog.createEmptyTable(name, schemaOf(text), { namespacePath: path, signal });
        });
      },
    });
    if (typeof typed === 'object') return show(parts, { kind: 'table', connection, path, table: name });
    if (typed === undefined) return;
  }
}

async function renameTable(parts: ChangeCommandDeps, node: NodeOf<'table'>): Promise<void> {
  const { connection, path, table } = node;
  const full = displayPath(path, table);
  const answer = await askStep({
    title: 'Rename Table',
    prompt: `New name of the table "${full}" of "${connection}"`,
    value: table,
    // The current name is valid, so that the box shows no error before the user types.
    check: (name) => (name === table ? undefined : tableNameProblem(name)),
    accept: (name, signal) =>
      change(parts, connection, (catalog) => catalog.renameTable(table, name, { namespacePath: path, signal })),
  });
  if (typeof answer !== 'object' || answer.value === table) return;
  await parts.panels.follow({ connection, path, table }, { connection, path, table: answer.value });
  await show(parts, { ...node, table: answer.value });
}

async function optimizeTable(parts: ChangeCommandDeps, { connection, path, table }: NodeOf<'table'>): Promise<void> {
  const full = displayPath(path, table);
  const catalog = await parts.catalogOf(connection);
  const { numFragments } = await withProgress(`Reading the fragments of ${full}`, async (signal) =>
    (await catalog.openTable(table, { namespacePath: path, signal })).stats({ signal }),
  );
  const detail = `The table has ${plural(numFragments, 'fragment')}. This joins small fragments and completes the indexes, in new versions. Earlier versions and their files stay.`;
  if (!(await confirm(`Optimize the table "${full}"?`, detail, 'Optimize Table'))) return;
  const result = await withProgress(`Optimizing ${full}`, (signal) =>
    change(parts, connection, async (current) =>
      (await current.openTable(table, { namespacePath: path, signal })).optimize({ signal }),
    ),
  );
  const { numFragmentsBefore, numFragmentsAfter } = result;
  void showInformation(
    numFragmentsBefore === numFragmentsAfter
      ? `The table "${full}" has ${plural(numFragmentsAfter, 'fragment')}: none had to be joined.`
      : `The table "${full}" has ${plural(numFragmentsAfter, 'fragment')} now, ${countText(numFragmentsBefore)} before.`,
  );
}

async function dropTable(parts: ChangeCommandDeps, node: NodeOf<'table'>): Promise<void> {
  const { connection, path, table } = node;
  const full = displayPath(path, table);
  const catalog = await parts.catalogOf(connection);
  const holds = await sizeOf(catalog, node);
  const detail = `${holds}It is dropped from the connection "${connection}" with all its versions. This can't be undone.`;
  if (!(await confirm(`Drop the table "${full}"?`, detail, 'Drop Table'))) return;
  await withProgress(`Dropping ${full}`, (signal) =>
    change(parts, connection, (current) => current.dropTable(table, { namespacePath: path, signal })),
  );
  await forget(parts, node, `The table "${full}" was dropped.`);
}

async function dropNamespace(parts: ChangeCommandDeps, node: NodeOf<'namespace'>): Promise<void> {
  const { connection, path } = node;
  const full = displayPath(path);
  const catalog = await parts.catalogOf(connection);
  const contents = await withProgress(`Counting the contents of ${full}`, (signal) =>
    countContents(catalog, path, signal),
  );
  const isEmpty = contents.tables + contents.namespaces === 0;
  const agreed = isEmpty
    ? await confirm(
        `Drop the namespace "${full}"?`,
        `It is empty and belongs to the connection "${connection}".`,
        'Drop Namespace',
      )
    : await confirmCascade(node, formatContents(contents));
  if (!agreed) return;
  // The user has only agreed to drop an empty namespace, so the catalog must refuse if the namespace has content now.
  const behavior = isEmpty ? 'restrict' : 'cascade';
  await withProgress(`Dropping ${full}`, (signal) =>
    change(parts, connection, (current) => current.dropNamespace(path, { behavior, signal })),
  );
  await forget(parts, node, `The namespace "${full}" was dropped.`);
}

async function confirmCascade({ connection, path }: NodeOf<'namespace'>, holds: string): Promise<boolean> {
  const full = displayPath(path);
  const name = path.at(-1) ?? '';
  const detail = `It contains ${holds}. Everything in it is also dropped from the connection "${connection}". This can't be undone.`;
  if (!(await confirm(`Drop the namespace "${full}" and everything in it?`, detail, 'Continue'))) return false;
  const typed = await askStep({
    title: 'Drop Namespace',
    prompt: `Type ${name} to drop "${full}" with ${holds}`,
    placeHolder: name,
    check: (value) => (value === name ? undefined : `Type ${name}, or press Escape to keep it.`),
  });
  return typeof typed === 'object';
}

/** Runs a change, then updates the abilities of the connection, even if the change failed. */
async function change<T>(
  { abilities, catalogOf }: ChangeCommandDeps,
  connection: string,
  run: (catalog: Catalog) => Promise<T>,
): Promise<T> {
  const catalog = await catalogOf(connection);
  try {
    return await run(catalog);
  } finally {
    void abilities.update(connection, catalog);
  }
}

/** Reloads the parent and selects the new row. */
async function show({ log, tree, view }: ChangeCommandDeps, node: CatalogNode): Promise<void> {
  const parent = tree.getParent(node);
  if (parent) tree.refresh(parent);
  try {
    await view.reveal(node, { select: true, focus: true });
  } catch (error) {
    // The row may be on a later page of its parent; the command itself succeeded.
    log.debug(`the new row was not found: ${String(error)}`);
  }
}

async function forget(parts: ChangeCommandDeps, node: NodeOf<'namespace' | 'table'>, what: string): Promise<void> {
  const parent = parts.tree.getParent(node);
  if (parent) parts.tree.refresh(parent);
  await lose(parts, node, new CatalogError('TableNotFound', what, 'Close this panel.'));
}

/** Shows the reason in panels of tables that no longer exist. */
const lose = ({ panels }: ChangeCommandDeps, node: NodeOf<'namespace' | 'table'>, why: CatalogError): Promise<void> =>
  panels.lose((place) => isWithin({ kind: 'table', ...place }, node), why);

/** Returns the size of a table if the catalog reports it soon. A table that can't be read can still be dropped. */
async function sizeOf(catalog: Catalog, { path, table }: NodeOf<'table'>): Promise<string> {
  try {
    const signal = AbortSignal.timeout(3000);
    const { numRows, columns } = await catalog.describeTable(table, { namespacePath: path, signal });
    const inColumns = plural(columns.length, 'column');
    return `It has ${numRows === undefined ? inColumns : `${plural(numRows, 'row')} in ${inColumns}`}. `;
  } catch {
    return '';
  }
}

const where = ({ connection, path }: CatalogLocation): string =>
  path.length === 0 ? `"${connection}"` : `"${displayPath(path)}" of "${connection}"`;

const tableNameProblem = (name: string): string | undefined => sentence(nameProblem('table', name));

const sentence = (problem: { what: string; hint: string } | undefined): string | undefined =>
  problem && `${problem.what} ${problem.hint}`;

/**
 * Returns the connection or namespace to create something in.
 * @throws CatalogError InvalidInput (13) if no row in a connection is selected
 */
function containerOf(node: unknown, view: vscode.TreeView<CatalogNode>): CatalogLocation {
  const found = node ?? view.selection[0];
  if (isNode(found, 'connection', 'namespace', 'table', 'column', 'more', 'empty')) return nodePath(found);
  throw new CatalogError(
    'InvalidInput',
    'No connection or namespace is selected.',
    'Select one in the Lance Catalog view.',
  );
}

/** @throws CatalogError InvalidInput (13) if no namespace is selected */
function namespaceOf(node: unknown, view: vscode.TreeView<CatalogNode>): NodeOf<'namespace'> {
  const found = node ?? view.selection[0];
  if (isNode(found, 'namespace')) return found;
  throw new CatalogError('InvalidInput', 'No namespace is selected.', 'Select one in the Lance Catalog view.');
}
