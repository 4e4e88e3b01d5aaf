import { existsSync } from 'node:fs';
import * as vscode from 'vscode';
import { isObjectStore, localRoot } from '#catalog/root.ts';
import { directoryOf, locationOfRows } from '#catalog/tableLocation.ts';
import { CatalogError, isCatalogError } from '#shared/errors.ts';
import { displayPath } from '#shared/names.ts';
import { asRecord } from '#shared/records.ts';
import { tableOf } from '../explorer/commands.ts';
import { nodeId, type CatalogNode, type NodeOf } from '../explorer/node.ts';
import { endStep, registerCommand } from '../host/commands.ts';
import { logFailure, type Log } from '../host/log.ts';
import { showInformation } from '../host/messages.ts';
import type { TablePanel } from './tablePanel.ts';
import type { TablePanels } from './tablePanels.ts';
import {
  catalogSource,
  isOutputState,
  isResultState,
  isTrialState,
  lostSource,
  type OutputPlace,
  outputOfState,
  placeOfState,
  type PanelCatalog,
  type TableSource,
} from './tableSource.ts';

export type TableCommandDeps = {
  log: Log;
  panels: TablePanels;
  view: vscode.TreeView<CatalogNode>;
  catalogOf: (connection: string) => Promise<PanelCatalog>;
};

/** The tree reports a double click as two clicks. Two clicks within this time pin the panel. */
const doubleClickMilliseconds = 350;

export function registerTableCommands({ log, panels, view, catalogOf }: TableCommandDeps): vscode.Disposable {
  let last: { id: string; at: number; opened: Promise<TablePanel> } | undefined;
  return vscode.Disposable.from(
    registerCommand(log, 'lanceCatalog.table.preview', async (node) => {
      const place = tableOf(node, view);
      const id = nodeId(place);
      if (last?.id === id && Date.now() - last.at < doubleClickMilliseconds) {
        const clicked = await last.opened;
        // The panel may have been closed between the clicks.
        if (panels.all.includes(clicked)) return panels.pin(clicked);
      }
      const opened = panels.preview(catalogSource(place, catalogOf));
      endStep('lanceCatalog.table.previewed');
      last = { id, at: Date.now(), opened };
      const panel = await opened;
      panel.table
        .catch((error: unknown) => offerLocation(place, error))
        .catch((error: unknown) => logFailure(log, 'offering a location', error));
    }),
    registerCommand(log, 'lanceCatalog.table.keepOpen', () => panels.pin()),
    registerCommand(log, 'lanceCatalog.table.goToRow', () => panels.goToRow()),
    registerCommand(log, 'lanceCatalog.table.chooseVersion', () => panels.chooseVersion()),
    registerCommand(log, 'lanceCatalog.table.showView', async (name) => {
      const { active } = panels;
      await (typeof name === 'string' ? active?.shownView.showNamed(name) : active?.chooseView());
    }),
    registerCommand(log, 'lanceCatalog.table.saveView', async (name) => {
      await panels.active?.shownView.save(typeof name === 'string' ? name : undefined);
    }),
    registerCommand(log, 'lanceCatalog.table.compare', () => panels.compare()),
  );
}

/**
 * Offers to connect the directory with a table's files, if the server has no rows of the table and this machine may
 * reach the directory.
 */
async function offerLocation({ path, table }: NodeOf<'table'>, error: unknown): Promise<void> {
  const location = isCatalogError(error) ? locationOfRows(error) : undefined;
  const found = location === undefined ? undefined : directoryOf(location);
  if (!found || !(isObjectStore(found.root) || existsSync(localRoot(found.root)))) return;
  const open = 'Open the Location';
  const text = `The server has no rows of "${displayPath(path, table)}". The files of the table are in ${found.root}.`;
  if ((await showInformation(text, open)) !== open) return;
  await vscode.commands.executeCommand('lanceCatalog.connection.add', { root: found.root });
}

export function restoredSource(
  kept: unknown,
  catalogOf: (connection: string) => Promise<PanelCatalog>,
  outputSource?: (title: string, place: OutputPlace) => TableSource,
): TableSource {
  const place = placeOfState(kept);
  if (place) return catalogSource(place, catalogOf);
  const { title } = asRecord(kept);
  if (typeof title === 'string') {
    if (isResultState(kept)) return lostRows(title, 'The rows of this query were not kept', 'Run the query again.');
    if (isTrialState(kept)) return lostRows(title, 'The rows of this trial were not kept', 'Try the backfill again.');
    const output = outputOfState(kept);
    if (output && outputSource) return outputSource(title, output);
    if (isOutputState(kept)) return lostRows(title, 'The rows of this output were not kept', openAgain);
  }
  const lost = new CatalogError(
    'TableNotFound',
    "Can't restore the panel: the location of its table is not known.",
    'Open it again from the Lance Catalog view.',
  );
  return lostSource('Table', lost);
}

const openAgain = 'Run the cell again, then choose "Open in Panel" below its output.';

function lostRows(title: string, what: string, next: string): TableSource {
  const lost = new CatalogError('TableNotFound', `${what} when the window was reloaded.`, next);
  return { ...lostSource(title, lost), failureTitle: title };
}
