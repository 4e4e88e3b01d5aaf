import * as vscode from 'vscode';
import { CatalogError } from '#shared/errors.ts';
import type { KernelOutput, VariableInfo } from '#shared/protocol/kernelMessages.ts';
import { asRecord } from '#shared/records.ts';
import { askConnection } from '../connections/askConnection.ts';
import type { Connections } from '../connections/connections.ts';
import { tableOf } from '../explorer/commands.ts';
import { isNode, nodePath, type CatalogNode } from '../explorer/node.ts';
import { confirm, withProgress } from '../host/ask.ts';
import { registerCommand } from '../host/commands.ts';
import type { Log } from '../host/log.ts';
import { StatusItem } from '../host/messages.ts';
import { notebookIds } from '../manifest.ts';
import type { TablePanels } from '../panels/tablePanels.ts';
import { chooseCatalog, describeChoice, namedConnection, withConnection } from './catalogChoice.ts';
import type { NotebookKernels } from './controller.ts';
import { previewCode } from './jupyter/kernelCode.ts';
import { type KernelCodeOutput, readKernelTable } from './jupyter/kernelTable.ts';
import { openNewNotebook } from './newNotebook.ts';
import type { NotebookCatalogs } from './notebookCatalogs.ts';
import { cellLanguage } from './notebookKernel.ts';
import { bundleItems, errorOutput } from './outputItems.ts';
import type { NotebookSession } from './session.ts';
import type { VariablesView } from './variablesView.ts';

/**
 * Opens a table panel for a notebook variable that holds a table.
 * @throws CatalogError InvalidInput (13) if the variable holds no table, ServiceUnavailable (17) without a kernel
 */
async function openVariable(
  session: NotebookSession | undefined,
  given: VariableInfo | undefined,
  panels: TablePanels,
): Promise<void> {
  const name: unknown = asRecord(given)['name'];
  if (typeof name !== 'string') {
    throw new CatalogError('InvalidInput', 'No variable was chosen.', 'Click a table in the Variables view.');
  }
  const kernel = await session?.kernel;
  if (!session || !kernel) {
    throw new CatalogError('ServiceUnavailable', 'The kernel of this notebook is not running.', 'Run a cell first.');
  }
  const code = previewCode(cellLanguage(session.notebook.metadata), name);
  const source = await withProgress(`Reading ${name}`, async (signal) => {
    const outputs: KernelOutput[] = [];
    // The user has not written this code, so its run gets no execution count and belongs to no cell.
    const options = { signal, storeHistory: false };
    await kernel.execute(code, (output) => outputs.push(output), options);
    return readKernelTable(name, codeOutputs(outputs));
  });
  await panels.preview(source);
}

async function* codeOutputs(outputs: readonly KernelOutput[]): AsyncGenerator<KernelCodeOutput> {
  for (const output of outputs) {
    if (output.type === 'display_data')
      yield { items: bundleItems(output.content.data), metadata: output.content.metadata };
    if (output.type === 'error') yield { items: errorOutput(output.content).items };
  }
}

export type NotebookCommandDeps = {
  log: Log;
  connections: Connections;
  notebookCatalogs: NotebookCatalogs;
  kernels: NotebookKernels;
  variables: VariablesView;
  view: vscode.TreeView<CatalogNode>;
  panels: TablePanels;
};

export function registerNotebookCommands(parts: NotebookCommandDeps): vscode.Disposable {
  const { log, connections, kernels, variables, view, panels } = parts;
  return vscode.Disposable.from(
    registerCommand(log, 'lanceCatalog.notebook.new', async (node) => {
      const row: unknown = node ?? view.selection[0];
      const named = isNode(row, 'connection', 'namespace', 'table', 'column', 'empty') ? nodePath(row) : undefined;
      const choice = chooseCatalog(named?.connection, connections.list(), undefined);
      await openNewNotebook('connection' in choice ? choice.connection.name : undefined, named);
    }),
    registerCommand(log, 'lanceCatalog.table.newNotebook', async (node) => {
      const { connection, path, table } = tableOf(node, view);
      await openNewNotebook(connection, { path, table });
    }),
    registerCommand(log, 'lanceCatalog.notebook.restartKernel', async () => kernels.restart(activeNotebook())),
    registerCommand(log, 'lanceCatalog.notebook.openVariable', (variable) =>
      openVariable(variables.session, variable, panels),
    ),
    registerCommand(log, 'lanceCatalog.notebook.chooseCatalog', async () => chooseFor(activeNotebook(), parts)),
    catalogStatus(parts),
  );
}

/** @throws CatalogError InvalidInput (13) if the active editor is not an .ipynb notebook */
function activeNotebook(): vscode.NotebookDocument {
  const notebook = vscode.window.activeNotebookEditor?.notebook;
  if (notebook?.notebookType === notebookIds.notebookType) return notebook;
  throw new CatalogError('InvalidInput', 'No notebook is active.', 'Open one and run the command again.');
}

async function chooseFor(
  notebook: vscode.NotebookDocument,
  { connections, notebookCatalogs, kernels }: NotebookCommandDeps,
): Promise<void> {
  const name = (await askConnection('Select the catalog for `db` in this notebook', connections))?.name;
  if (name === undefined || name === namedConnection(notebook.metadata)) return;
  const loses = kernels.session(notebook)?.hasRun === true;
  const detail = 'The kernel restarts with this catalog, so the variables of this notebook are lost.';
  if (loses && !(await confirm(`Use "${name}" in this notebook?`, detail, 'Use and Restart'))) return;
  const edit = new vscode.WorkspaceEdit();
  edit.set(notebook.uri, [vscode.NotebookEdit.updateNotebookMetadata(withConnection(notebook.metadata, name))]);
  await vscode.workspace.applyEdit(edit);
  notebookCatalogs.bind(notebook.uri, name);
  // If no cell has run yet, `renew` is enough: cells that wait for the kernel continue to wait and get the new kernel.
  const session = kernels.session(notebook);
  if (session?.hasRun === true) await kernels.restart(notebook);
  else session?.renew();
}

function catalogStatus({ connections, notebookCatalogs }: NotebookCommandDeps): vscode.Disposable {
  const item = new StatusItem({
    id: 'lanceCatalog.notebook',
    name: 'Notebook Catalog',
    priority: 90,
    command: 'lanceCatalog.notebook.chooseCatalog',
  });
  const update = () => {
    const notebook = vscode.window.activeNotebookEditor?.notebook;
    const isTypeScript = notebook?.getCells().some((cell) => /^(type|java)script$/.test(cell.document.languageId));
    if (!notebook || notebook.notebookType !== notebookIds.notebookType || isTypeScript !== true) return item.hide();
    const choice = notebookCatalogs.choice(notebook);
    const { text, tooltip } = describeChoice(choice);
    item.show({ parts: [{ icon: 'database', text }], tooltip, isWarning: choice.kind === 'missing' });
  };
  update();
  return vscode.Disposable.from(
    item,
    vscode.window.onDidChangeActiveNotebookEditor(update),
    vscode.workspace.onDidChangeNotebookDocument(update),
    connections.onDidChange(update),
    notebookCatalogs.onDidChange(update),
  );
}
