import * as vscode from 'vscode';
import { CatalogError } from '#shared/errors.ts';
import { tableOf } from '../explorer/commands.ts';
import { nodeId, type CatalogNode } from '../explorer/node.ts';
import { registerCommand } from '../host/commands.ts';
import type { Log } from '../host/log.ts';
import type { TablePanel, TablePanels } from './tablePanel.ts';
import { catalogSource, lostSource, placeOfState, type PanelCatalog, type TableSource } from './tableSource.ts';

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
      last = { id, at: Date.now(), opened };
      await opened;
    }),
    registerCommand(log, 'lanceCatalog.table.keepOpen', () => panels.pin()),
  );
}

export function restoredSource(kept: unknown, catalogOf: (connection: string) => Promise<PanelCatalog>): TableSource {
  const place = placeOfState(kept);
  if (place) return catalogSource(place, catalogOf);
  const lost = new CatalogError(
    'TableNotFound',
    "Can't restore the panel: the location of its table is not known.",
    'Open it again from the Lance Catalog view.',
  );
  return lostSource('Table', lost);
}
