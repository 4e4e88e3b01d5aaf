import * as vscode from 'vscode';
import { statementAt, type StatementRange } from '#catalog/sqlStatements.ts';
import { CatalogError } from '#shared/errors.ts';
import { asRecord } from '#shared/records.ts';
import { isCount } from '#shared/shape.ts';
import { type CatalogNode, isNode, nodePath } from '../explorer/node.ts';
import { registerCommand } from '../host/commands.ts';
import type { Log } from '../host/log.ts';
import type { TablePanels } from '../panels/tablePanels.ts';
import type { SqlHistory } from './history.ts';
import { sqlEditor, type SqlFiles } from './sqlFiles.ts';
import { firstQuery } from './sqlRules.ts';
import type { SqlRunner } from './sqlRunner.ts';

type SqlCommandDeps = {
  log: Log;
  files: SqlFiles;
  runner: SqlRunner;
  history: SqlHistory;
  view: vscode.TreeView<CatalogNode>;
  panels: Pick<TablePanels, 'resultColumn'>;
};

export function registerSqlCommands(deps: SqlCommandDeps): vscode.Disposable {
  const { log, runner, files, history, view } = deps;
  return vscode.Disposable.from(
    registerCommand(log, 'lanceCatalog.sql.run', async (place) => {
      const { document, range } = statementOf(place);
      await runner.run(document, range, 'run');
    }),
    registerCommand(log, 'lanceCatalog.sql.runAll', async (file) => {
      const { document } = sqlEditor(file);
      await runner.run(document, { start: 0, end: document.getText().length }, 'run');
    }),
    registerCommand(log, 'lanceCatalog.sql.runSelection', async (file) => {
      const editor = sqlEditor(file);
      const range = selectionOf(editor);
      if (!range) throw new CatalogError('InvalidInput', 'No text is selected.', 'Select the statements to run.');
      await runner.run(editor.document, range, 'run');
    }),
    registerCommand(log, 'lanceCatalog.sql.explain', async (file) => {
      const { document, range } = statementOf(file);
      await runner.run(document, range, 'explain');
    }),
    registerCommand(log, 'lanceCatalog.sql.cancel', (file) => runner.cancel(sqlEditor(file).document)),
    registerCommand(log, 'lanceCatalog.sql.chooseConnection', async (file) => {
      await files.choose(sqlEditor(file).document);
    }),
    registerCommand(log, 'lanceCatalog.sql.newQuery', async (node) => newQuery(deps, node ?? view.selection[0])),
    registerCommand(log, 'lanceCatalog.sql.history', async () => {
      const query = await history.pick();
      if (query) await openQuery(deps, query.text, query.connection);
    }),
  );
}

/**
 * Returns the statement at a place, which a code lens passes. For the file of an editor, and without an argument for the
 * active editor, returns the selection, else the statement at the cursor.
 */
function statementOf(place: unknown): { document: vscode.TextDocument; range: StatementRange } {
  const { uri, offset } = asRecord(place);
  const named = uri instanceof vscode.Uri && isCount(offset) ? openDocument(uri) : undefined;
  if (named && isCount(offset)) return { document: named, range: rangeAt(named, offset) };
  const editor = sqlEditor(place);
  const { document, selection } = editor;
  return { document, range: selectionOf(editor) ?? rangeAt(document, document.offsetAt(selection.active)) };
}

const openDocument = (uri: vscode.Uri): vscode.TextDocument | undefined =>
  vscode.workspace.textDocuments.find((one) => one.uri.toString() === uri.toString());

const rangeAt = (document: vscode.TextDocument, offset: number): StatementRange =>
  statementAt(document.getText(), offset) ?? { start: 0, end: 0 };

function selectionOf({ document, selection }: vscode.TextEditor): StatementRange | undefined {
  if (selection.isEmpty) return undefined;
  return { start: document.offsetAt(selection.start), end: document.offsetAt(selection.end) };
}

/** Opens a new file for a row of the tree; without a row, the new file has no connection. */
async function newQuery(deps: SqlCommandDeps, node: unknown): Promise<void> {
  if (!isNode(node, 'connection', 'namespace', 'table', 'column')) return openQuery(deps, '', undefined);
  const { connection, path } = nodePath(node);
  const table = node.kind === 'table' || node.kind === 'column' ? [...path, node.table] : undefined;
  await openQuery(deps, firstQuery(table), connection);
}

async function openQuery(
  { files, panels }: SqlCommandDeps,
  content: string,
  connection: string | undefined,
): Promise<void> {
  const document = await vscode.workspace.openTextDocument({ language: 'sql', content });
  if (connection !== undefined) files.bind(document, connection);
  // The column of results stays free for results.
  const isAmongResults = vscode.window.tabGroups.activeTabGroup.viewColumn === panels.resultColumn;
  const viewColumn = isAmongResults ? vscode.ViewColumn.One : vscode.ViewColumn.Active;
  await vscode.window.showTextDocument(document, { preview: false, viewColumn });
}
