import * as vscode from 'vscode';
import { registerCatalogCommands } from './catalog/commands.ts';
import { rootOf } from './catalog/connectionRules.ts';
import { Connections } from './catalog/connections.ts';
import type { LoaderContext } from './catalog/loaders.ts';
import { CatalogTree } from './catalog/tree.ts';
import { registerCommand } from './host/commands.ts';
import { setContext } from './host/context.ts';
import { Engine } from './host/engine.ts';
import { createLog, logFailure } from './host/log.ts';
import { State } from './host/state.ts';
import { panelTypes, viewIds } from './manifest.ts';
import { registerNotebookCommands } from './notebook/commands.ts';
import { NotebookKernels } from './notebook/controller.ts';
import { registerJupyter } from './notebook/jupyter.ts';
import { registerCellLanguage } from './notebook/language.ts';
import { kernelStarter } from './notebook/kernelStarter.ts';
import { registerTableCommands, restoredSource } from './panels/commands.ts';
import { TablePanels } from './panels/tablePanel.ts';

/** What tests reach; not an interface for other extensions. */
export type ExtensionApi = {
  readonly connections: Connections;
  readonly tree: CatalogTree;
  readonly view: vscode.TreeView<unknown>;
  readonly engine: Engine;
  readonly panels: TablePanels;
  readonly kernels: NotebookKernels;
};

/** Builds the services and pushes what ends with the window. */
export function activate(context: vscode.ExtensionContext): ExtensionApi {
  const { extensionUri, subscriptions } = context;
  const dist = (name: string) => vscode.Uri.joinPath(extensionUri, 'dist', name).fsPath;
  const log = createLog();
  const state = new State(context);
  const engine = new Engine(dist('engine.cjs'), log);
  const connections = new Connections(state);
  const catalogOf = async (name: string) => engine.catalog(rootOf(connections.get(name)));

  const loading: LoaderContext = {
    catalog: catalogOf,
    remedy: () => (engine.problem ? 'restart' : 'retry'),
    report: (what, error) => logFailure(log, what, error),
  };
  const tree = new CatalogTree(() => connections.list(), loading);
  const view = vscode.window.createTreeView(viewIds.catalog, { treeDataProvider: tree, showCollapseAll: true });
  const panels = new TablePanels({
    extensionUri,
    log,
    restore: (kept) => restoredSource(kept, catalogOf),
    onUnpinned: (isUnpinned) => setContext('lanceCatalog.table.unpinned', isUnpinned),
  });
  const kernels = new NotebookKernels({ log, startKernel: kernelStarter({ log, state, connections, dist }) });

  subscriptions.push(
    log,
    engine,
    connections,
    tree,
    view,
    panels,
    kernels,
    vscode.window.registerWebviewPanelSerializer(panelTypes.table, panels),
    connections.onDidChange(() => (tree.refresh(), kernels.renew())),
    engine.onDidChange(() => tree.refresh()),
    view.onDidCollapseElement(({ element }) => tree.collapsed(element)),
    view.onDidExpandElement(({ element }) => tree.expanded(element)),
    view.onDidChangeVisibility(({ visible }) => visible && connections.list().length > 0 && engine.warm()),
    registerCommand(log, 'lanceCatalog.engine.restart', () => engine.restart()),
    registerCatalogCommands({ log, connections, tree, view, openDirectory: (root) => engine.catalog(root) }),
    registerTableCommands({ log, state, panels, view, catalogOf }),
    registerNotebookCommands({ log, state, connections, kernels, view }),
    registerCellLanguage(kernels),
    registerJupyter({ log, panels }),
  );
  return { connections, tree, view, engine, panels, kernels };
}
