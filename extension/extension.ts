import * as vscode from 'vscode';
import { Abilities } from './catalog/abilities.ts';
import { Catalogs } from './catalog/catalogs.ts';
import { registerChangeCommands } from './catalog/changeCommands.ts';
import { registerCatalogCommands } from './catalog/commands.ts';
import { registerConnectionCommands } from './catalog/connectionCommands.ts';
import { Connections } from './catalog/connections.ts';
import { treeContext } from './catalog/treeContext.ts';
import { CatalogTree } from './catalog/tree.ts';
import { registerCluster } from './cluster/register.ts';
import { registerCommand } from './host/commands.ts';
import { setContext } from './host/context.ts';
import { Engine } from './host/engine.ts';
import { createLog, logFailure } from './host/log.ts';
import { Secrets } from './host/secrets.ts';
import { State } from './host/state.ts';
import { registerJobs } from './jobs/register.ts';
import { panelTypes, viewIds } from './manifest.ts';
import { registerNotebookCommands } from './notebook/commands.ts';
import { registerNotebookDebugger } from './notebook/debug.ts';
import { NotebookKernels } from './notebook/controller.ts';
import { registerJupyter } from './notebook/jupyter.ts';
import { registerCellLanguage } from './notebook/language.ts';
import { kernelStarter } from './notebook/kernelStarter.ts';
import { KeptKernels } from './notebook/keptKernels.ts';
import { registerRestartMarks } from './notebook/restartMarks.ts';
import { VariablesView } from './notebook/variablesView.ts';
import { registerTableCommands, restoredSource } from './panels/commands.ts';
import { TablePanels } from './panels/tablePanel.ts';

/** What tests reach; not an interface for other extensions. */
export type ExtensionApi = ReturnType<typeof start>;

/** Builds the services and pushes what ends with the window. */
export const activate = (context: vscode.ExtensionContext): ExtensionApi => start(context);

function start(context: vscode.ExtensionContext) {
  const { extensionUri, subscriptions } = context;
  const dist = (name: string) => vscode.Uri.joinPath(extensionUri, 'dist', name).fsPath;
  const log = createLog();
  const report = (what: string, error: unknown) => logFailure(log, what, error);
  const state = new State(context);
  const secrets = new Secrets(context);
  const engine = new Engine(dist('engine.cjs'), log);
  const connections = new Connections(state, secrets);
  const catalogs = new Catalogs(connections, engine, log);
  const catalogOf = (name: string) => catalogs.get(name);
  const abilities = new Abilities(report);
  const tree = new CatalogTree(
    () => connections.list(),
    treeContext({ connections, catalogs, engine, abilities, report }),
  );
  const view = vscode.window.createTreeView(viewIds.catalog, { treeDataProvider: tree, showCollapseAll: true });
  const panels = new TablePanels({
    extensionUri,
    log,
    restore: (kept) => restoredSource(kept, catalogOf),
    onUnpinned: (isUnpinned) => setContext('lanceCatalog.table.unpinned', isUnpinned),
  });
  const kept = new KeptKernels(state);
  const cluster = registerCluster({ log, state, catalogs, extensionUri });
  const { profiles } = cluster;
  const startKernel = kernelStarter({ log, state, connections, catalogs, kept, profiles, dist });
  const kernels = new NotebookKernels({ log, startKernel, kept });
  const variables = new VariablesView(kernels, log);
  const cells = registerCellLanguage({ log, state, connections, catalogs, kernels, dist });
  const services = {
    state,
    secrets,
    connections,
    catalogs,
    abilities,
    tree,
    view,
    engine,
    panels,
    kernels,
    variables,
    language: cells.language,
    cluster,
  };
  const parts = { ...services, log, catalogOf };
  const jobs = registerJobs({ ...parts, extensionUri, dist });
  subscriptions.push(
    vscode.Disposable.from(log, secrets, engine, connections, catalogs, abilities, tree, view, panels, kernels),
    variables,
    vscode.window.registerWebviewPanelSerializer(panelTypes.table, panels),
    connections.onDidChange(() => (tree.refresh(), kernels.renew())),
    engine.onDidChange(() => tree.refresh()),
    abilities.onDidChange((name) => tree.redraw(name)),
    view.onDidCollapseElement(({ element }) => tree.collapsed(element)),
    view.onDidExpandElement(({ element }) => tree.expanded(element)),
    view.onDidChangeVisibility(({ visible }) => visible && connections.needEngine && engine.warm()),
    registerCommand(log, 'lanceCatalog.engine.restart', () => engine.restart()),
    registerCatalogCommands(parts),
    registerConnectionCommands(parts),
    registerChangeCommands(parts),
    registerTableCommands(parts),
    registerNotebookCommands(parts),
    registerNotebookDebugger(parts),
    registerRestartMarks(kernels),
    cells,
    cluster,
    jobs,
    registerJupyter(parts),
  );
  return { ...services, jobs };
}
