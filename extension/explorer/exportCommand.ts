import { randomUUID } from 'node:crypto';
import { homedir } from 'node:os';
import * as vscode from 'vscode';
import { CatalogError } from '#shared/errors.ts';
import { countText, sizeText } from '#shared/format/numbers.ts';
import { displayPath } from '#shared/names.ts';
import type { ExportRequest } from '#shared/protocol/viewsMessages.ts';
import type { PanelView } from '#shared/protocol/webviewMessages.ts';
import type { Catalogs } from '../connections/catalogs.ts';
import type { Connections } from '../connections/connections.ts';
import { viewsCatalog } from '../connections/viewsCatalog.ts';
import { registerCommand } from '../host/commands.ts';
import type { Engine } from '../host/engine.ts';
import type { Log } from '../host/log.ts';
import { notifyProgress, showInformation } from '../host/messages.ts';
import type { ViewsHost } from '../host/viewsHost.ts';
import { tableOf } from './commands.ts';
import { plural } from './contents.ts';
import type { CatalogNode } from './node.ts';
import { isFoundByIndex, shownFilter } from '../panels/searchedRows.ts';
import type { TablePanel } from '../panels/tablePanel.ts';
import type { TablePanels } from '../panels/tablePanels.ts';
import type { TablePlace } from '../panels/tableSource.ts';

type ExportCommandDeps = {
  log: Log;
  view: vscode.TreeView<CatalogNode>;
  catalogs: Catalogs;
  connections: Connections;
  engine: Engine;
  views: ViewsHost;
  panels: TablePanels;
};

/**
 * Registers the commands that write a table, or rows that a panel shows, to a file. The last argument is the file,
 * for tests and key bindings.
 */
export const registerExportCommands = (deps: ExportCommandDeps): vscode.Disposable =>
  vscode.Disposable.from(
    registerCommand(deps.log, 'lanceCatalog.table.export', async (node, file) => {
      const table = tableOf(node, deps.view);
      const target = file ?? (await askFile(table));
      if (target) await exportTable(deps, table, target, allRows);
    }),
    registerCommand(deps.log, 'lanceCatalog.table.exportRows', async (file) => {
      const { active } = deps.panels;
      if (!active) return;
      const place = exportedPlace(active);
      const table = await active.table;
      const { version, view } = table;
      const target = file ?? (await askFile(place, view));
      if (!target) return;
      const changes = await active.exportedChanges();
      if (changes) return exportTable(deps, place, target, { ...allRows, version, changes });
      const rows = isFoundByIndex(table)
        ? { selection: await active.wholeView() }
        : { where: shownFilter(table), orderBy: view?.orderBy ?? [], nearest: view?.nearest };
      await exportTable(deps, place, target, { ...allRows, version, ...rows });
    }),
    registerCommand(deps.log, 'lanceCatalog.table.exportSelectedRows', async (file) => {
      const { active } = deps.panels;
      if (!active) return;
      const place = exportedPlace(active);
      const { version, view } = await active.table;
      const [selection, changes] = [await active.selection(), await active.exportedChanges()];
      const target = file ?? (await askFile(place, view));
      if (target) await exportTable(deps, place, target, { ...allRows, version, selection, changes });
    }),
  );

/** @throws CatalogError Unsupported (0) if the rows of a panel are not those of a table */
function exportedPlace({ place, title }: TablePanel): TablePlace {
  if (place) return place;
  throw new CatalogError(
    'Unsupported',
    `Can't export "${title}": its rows are not from a table of a catalog.`,
    'Use display or db.export in a notebook, or lance-catalog sql with -o in a terminal.',
  );
}

/** Which rows of a table are exported, in which order. */
type ExportedRows = Pick<ExportRequest, 'version' | 'where' | 'orderBy' | 'selection' | 'nearest' | 'changes'>;
const allRows: ExportedRows = { version: null, where: '', orderBy: [] };

async function exportTable(
  deps: ExportCommandDeps,
  table: TablePlace,
  target: vscode.Uri,
  rows: ExportedRows,
): Promise<void> {
  const { views } = deps;
  const full = displayPath(table.path, table.table);
  if (target.scheme !== 'file')
    throw new CatalogError(
      'Unsupported',
      `Can't export to "${target.toString(true)}": it is not a file of this machine.`,
      'Choose a file in a folder.',
    );
  const id = randomUUID();
  const written = await notifyProgress(`Exporting ${full}`, async ({ signal, report }) => {
    const listening = views.onExport(id, (count) => report(`${countText(count)} rows`));
    try {
      const catalog = await viewsCatalog(deps, table.connection);
      const path = [...table.path, table.table];
      return await views.request('exportTable', { id, catalog, path, file: target.fsPath, ...rows }, signal);
    } catch (error) {
      if (signal.aborted) return undefined;
      throw error;
    } finally {
      listening.dispose();
    }
  });
  if (!written) return;
  void tell(`Wrote ${plural(written.rows, rows.changes ? 'difference' : 'row')} of "${full}"`, written.bytes, target);
}

/** Says what was written, and offers to open files that the editor shows well. */
async function tell(what: string, bytes: number, target: vscode.Uri): Promise<void> {
  const open = 'Open';
  const isText = /\.(csv|json|jsonl|ndjson)$/i.test(target.path);
  const choice = await showInformation(
    `${what} to "${target.fsPath}" (${sizeText(bytes)}).`,
    ...(isText ? [open] : []),
  );
  if (choice === open) await vscode.commands.executeCommand('vscode.open', target);
}

const fileTypes: Readonly<Record<string, string[]>> = {
  Parquet: ['parquet'],
  CSV: ['csv'],
  'JSON Lines': ['jsonl'],
  JSON: ['json'],
  Arrow: ['arrow'],
  'Compressed CSV or JSON': ['csv.gz', 'jsonl.gz', 'csv.zst', 'jsonl.zst'],
};

const fileEndings = Object.values(fileTypes)
  .flatMap(([ending]) => (ending === undefined || ending.includes('gz') ? [] : [`.${ending}`]))
  .join(', ')
  .replace(/, (?=[^,]*$)/, ' or ');

async function askFile({ table }: TablePlace, view?: PanelView): Promise<vscode.Uri | undefined> {
  const folder = vscode.workspace.workspaceFolders?.[0]?.uri ?? vscode.Uri.file(homedir());
  // A name of another client may have characters that a file can't have.
  const name = `${table.replaceAll(/[^\w.-]+/g, '-')}${view?.changes ? '-changes' : ''}.parquet`;
  return vscode.window.showSaveDialog({
    // The dialog of a remote window has no list of file types.
    title: `Export ${view?.changes ? 'the differences of ' : ''}"${table}" as ${fileEndings}`,
    saveLabel: 'Export',
    filters: fileTypes,
    defaultUri: vscode.Uri.joinPath(folder, name),
  });
}
