import * as vscode from 'vscode';
import type { Catalogs } from '../connections/catalogs.ts';
import type { Connections } from '../connections/connections.ts';
import { isUnlisted } from '../connections/kernelTables.ts';
import { viewsCatalog } from '../connections/viewsCatalog.ts';
import type { State } from '../host/state.ts';
import { setContext } from '../host/commands.ts';
import type { Engine } from '../host/engine.ts';
import type { ViewsHost } from '../host/viewsHost.ts';
import { panelTypes } from '../manifest.ts';
import { registerTableCommands, restoredSource, type TableCommandDeps } from './commands.ts';
import { ColumnMemory } from './columnMemory.ts';
import type { TreeUpdates } from '../explorer/treeUpdates.ts';
import { SavedViews } from './savedViews.ts';
import { PanelFailures } from './panelFailure.ts';
import { TablePanels } from './tablePanels.ts';
import { catalogSource, type PanelCatalog } from './tableSource.ts';

type PanelDeps = Omit<TableCommandDeps, 'panels'> & {
  extensionUri: vscode.Uri;
  connections: Connections;
  catalogs: Catalogs;
  engine: Engine;
  views: ViewsHost;
  state: State;
  updates: Pick<TreeUpdates, 'onDidChange'>;
};

export function registerPanels(parts: PanelDeps): vscode.Disposable & { panels: TablePanels } {
  const { extensionUri, log, connections, state, engine, updates } = parts;
  const columns = new ColumnMemory(state);
  const saved = new SavedViews(state, connections);
  // A table of a cell may be in a directory that is not in the list.
  const catalogOf = (name: string): Promise<PanelCatalog> =>
    isUnlisted(name, connections.list()) ? engine.catalog(name) : parts.catalogOf(name);
  const panels: TablePanels = new TablePanels({
    extensionUri,
    log,
    restore: (kept) => restoredSource(kept, catalogOf, panels.outputSource),
    sourceOf: (place) => catalogSource(place, catalogOf),
    failures: new PanelFailures(connections),
    views: { views: parts.views, viewsCatalog: (connection) => viewsCatalog(parts, connection) },
    comparing: { catalogOf: (connection) => parts.catalogs.get(connection), state },
    columns,
    saved,
    onUnpinned: (isUnpinned) => setContext('lanceCatalog.table.unpinned', isUnpinned),
  });
  const registered = vscode.Disposable.from(
    panels,
    connections.onDidReplace(({ before, after }) => {
      if (before.name !== after.name) void columns.renameConnection(before.name, after.name);
      void saved.moveConnection(before, after);
    }),
    // A shown table may have a newer version.
    updates.onDidChange((names) => void panels.lookForNewer(names)),
    // The engine before may have had a version open that was removed.
    engine.onDidChange(() => void panels.lookForNewer()),
    vscode.window.registerWebviewPanelSerializer(panelTypes.table, panels),
    registerTableCommands({ ...parts, panels }),
  );
  return { panels, dispose: () => void registered.dispose() };
}
