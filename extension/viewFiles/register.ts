import * as vscode from 'vscode';
import type { Connections } from '../connections/connections.ts';
import { registerCommand } from '../host/commands.ts';
import type { Log } from '../host/log.ts';
import type { State } from '../host/state.ts';
import { viewFileEditorId } from '../manifest.ts';
import type { TablePanels } from '../panels/tablePanels.ts';
import { saveViewFile } from './saveViewFile.ts';
import { ViewApprovals } from './viewApprovals.ts';
import { ViewFileEditors } from './viewFileEditor.ts';

type ViewFileServices = {
  extensionUri: vscode.Uri;
  log: Log;
  state: State;
  connections: Connections;
  panels: TablePanels;
};

export function registerViewFiles(services: ViewFileServices): vscode.Disposable & { editors: ViewFileEditors } {
  const { extensionUri, log, state, connections, panels } = services;
  const approvals = new ViewApprovals(state);
  const dist = vscode.Uri.joinPath(extensionUri, 'dist');
  const editors = new ViewFileEditors({ log, dist, panels, connections, approvals });
  const registered = vscode.Disposable.from(
    vscode.window.registerCustomEditorProvider(viewFileEditorId, editors),
    registerCommand(log, 'lanceCatalog.table.saveViewFile', (file) =>
      saveViewFile({ panels, connections, approvals }, file instanceof vscode.Uri ? file : undefined),
    ),
  );
  return { editors, dispose: () => void registered.dispose() };
}
