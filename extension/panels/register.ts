import * as vscode from 'vscode';
import { setContext } from '../host/commands.ts';
import { panelTypes } from '../manifest.ts';
import { registerTableCommands, restoredSource, type TableCommandDeps } from './commands.ts';
import { TablePanels } from './tablePanel.ts';

type PanelDeps = Omit<TableCommandDeps, 'panels'> & { extensionUri: vscode.Uri };

export function registerPanels(parts: PanelDeps): vscode.Disposable & { panels: TablePanels } {
  const { extensionUri, log, catalogOf } = parts;
  const panels = new TablePanels({
    extensionUri,
    log,
    restore: (kept) => restoredSource(kept, catalogOf),
    onUnpinned: (isUnpinned) => setContext('lanceCatalog.table.unpinned', isUnpinned),
  });
  const registered = vscode.Disposable.from(
    panels,
    vscode.window.registerWebviewPanelSerializer(panelTypes.table, panels),
    registerTableCommands({ ...parts, panels }),
  );
  return { panels, dispose: () => void registered.dispose() };
}
