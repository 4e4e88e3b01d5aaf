import * as vscode from 'vscode';
import type { Connections } from '../connections/connections.ts';
import { setContext } from '../host/commands.ts';
import { panelTypes } from '../manifest.ts';
import { registerTableCommands, restoredSource, type TableCommandDeps } from './commands.ts';
import { PanelFailures } from './panelFailure.ts';
import { TablePanels } from './tablePanel.ts';
import { catalogSource } from './tableSource.ts';

type PanelDeps = Omit<TableCommandDeps, 'panels'> & { extensionUri: vscode.Uri; connections: Connections };

export function registerPanels(parts: PanelDeps): vscode.Disposable & { panels: TablePanels } {
  const { extensionUri, log, connections, catalogOf } = parts;
  const panels = new TablePanels({
    extensionUri,
    log,
    restore: (kept) => restoredSource(kept, catalogOf),
    sourceOf: (place) => catalogSource(place, catalogOf),
    failures: new PanelFailures(connections),
    onUnpinned: (isUnpinned) => setContext('lanceCatalog.table.unpinned', isUnpinned),
  });
  const registered = vscode.Disposable.from(
    panels,
    vscode.window.registerWebviewPanelSerializer(panelTypes.table, panels),
    registerTableCommands({ ...parts, panels }),
  );
  return { panels, dispose: () => void registered.dispose() };
}
