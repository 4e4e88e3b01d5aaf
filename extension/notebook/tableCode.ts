import * as vscode from 'vscode';
import type { ChangesOfTables } from '#catalog/view/changesCode.ts';
import { type CodeLanguage, viewCode } from '#catalog/view/viewCode.ts';
import type { PythonCatalog } from '#catalog/view/viewPython.ts';
import type { ViewOfTable } from '#catalog/view/tableRows.ts';
import { CatalogError } from '#shared/errors.ts';
import { asRecord } from '#shared/records.ts';
import type { Connections } from '../connections/connections.ts';
import type { Connection } from '../explorer/node.ts';
import { registerCommand } from '../host/commands.ts';
import type { Log } from '../host/log.ts';
import { pickItem, showDone } from '../host/messages.ts';
import { notebookIds } from '../manifest.ts';
import type { TablePanels } from '../panels/tablePanels.ts';
import { openNewNotebook } from './newNotebook.ts';
import type { NotebookCatalogs } from './notebookCatalogs.ts';

export type TableCodeDeps = {
  log: Log;
  panels: Pick<TablePanels, 'activeView'>;
  connections: Connections;
  notebookCatalogs: NotebookCatalogs;
};

const languages: readonly { label: string; description: string; value: CodeLanguage }[] = [
  { label: 'TypeScript', description: 'for a cell of a notebook', value: 'typescript' },
  { label: 'SQL', description: 'for a %%sql cell or a SQL file', value: 'sql' },
  { label: 'Python', description: 'with pylance', value: 'python' },
];

/** Registers the commands that write the table of the active panel as code. */
export function registerTableCode({ log, panels, connections, notebookCatalogs }: TableCodeDeps): vscode.Disposable {
  /** @throws CatalogError InvalidInput (13) if no panel with a table of a catalog is active */
  const activeView = async (): Promise<{ connection: string; view: ViewOfTable | ChangesOfTables }> => {
    const found = await panels.activeView();
    if (found) return found;
    throw new CatalogError('InvalidInput', 'There is no table to write as code.', 'Open a table of the catalog first.');
  };
  return vscode.Disposable.from(
    registerCommand(log, 'lanceCatalog.table.copyCode', async (given) => {
      const { connection, view } = await activeView();
      const chosen =
        languages.find(({ value }) => value === given)?.value ??
        (await pickItem(languages, { title: `Copy the rows of ${view.name} as code` }));
      if (chosen === undefined) return;
      const found = connections.list().find(({ name }) => name === connection);
      await vscode.env.clipboard.writeText(viewCode(chosen, view, pythonCatalog(connection, found)));
      showDone(`Copied as ${languages.find(({ value }) => value === chosen)?.label ?? chosen}`, 3000);
    }),
    registerCommand(log, 'lanceCatalog.table.insertCell', async () => {
      const { connection, view } = await activeView();
      const code = viewCode('typescript', limited(view), pythonCatalog(connection, undefined));
      const editor = vscode.window.visibleNotebookEditors.find(({ notebook }) => {
        const choice = isOurs(notebook) ? notebookCatalogs.choice(notebook) : undefined;
        return choice && 'connection' in choice && choice.connection.name === connection;
      });
      const isListed = connections.list().some(({ name }) => name === connection);
      if (editor) await insertCell(editor, code);
      else
        await openNewNotebook(isListed ? connection : undefined, { path: view.namespacePath, table: view.name, code });
    }),
  );
}

/** The first rows, because a cell shows no more. */
const limited = (view: ViewOfTable | ChangesOfTables): ViewOfTable | ChangesOfTables => ({
  ...view,
  limit: view.limit ?? 20,
});

function pythonCatalog(name: string, connection: Connection | undefined): PythonCatalog {
  // The connection of a job's table is the path of its root.
  if (connection?.kind !== 'rest') return { kind: 'dir', root: connection?.kind === 'dir' ? connection.root : name };
  const { uri, database } = connection;
  return {
    kind: 'rest',
    uri,
    headers: database === undefined ? {} : { 'x-service-database': database },
    secretHeaders: { 'x-api-key': 'LANCE_CATALOG_API_KEY' },
  };
}

/** Whether the file names our kernel. */
function isOurs({ notebookType, metadata }: vscode.NotebookDocument): boolean {
  const kernelspec = asRecord(asRecord(asRecord(metadata)['metadata'])['kernelspec']);
  return notebookType === notebookIds.notebookType && kernelspec['name'] === notebookIds.kernelspec;
}

/** Inserts a cell after the selected ones, and selects it. */
async function insertCell(editor: vscode.NotebookEditor, code: string): Promise<void> {
  const { notebook } = editor;
  const at = Math.min(editor.selection.end, notebook.cellCount);
  const cell = new vscode.NotebookCellData(vscode.NotebookCellKind.Code, code, 'typescript');
  const edit = new vscode.WorkspaceEdit();
  edit.set(notebook.uri, [vscode.NotebookEdit.insertCells(at, [cell])]);
  if (!(await vscode.workspace.applyEdit(edit)))
    throw new CatalogError('InvalidInput', "Can't insert a cell: the notebook is read-only.", 'Open another notebook.');
  const shown = new vscode.NotebookRange(at, at + 1);
  editor.selections = [shown];
  editor.revealRange(shown);
}
