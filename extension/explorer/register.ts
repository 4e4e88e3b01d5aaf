import * as vscode from 'vscode';
import { Abilities } from '../connections/abilities.ts';
import { Catalogs } from '../connections/catalogs.ts';
import { registerConnectionCommands } from '../connections/connectionCommands.ts';
import { Connections } from '../connections/connections.ts';
import { serverErrorAction } from '../connections/failureMessage.ts';
import { registerImplementations } from '../connections/implementations.ts';
import { setContext } from '../host/commands.ts';
import type { Engine } from '../host/engine.ts';
import type { HostServices } from '../host/register.ts';
import { viewIds } from '../manifest.ts';
import type { TablePanels } from '../panels/tablePanels.ts';
import { registerChangeCommands } from './changeCommands.ts';
import { registerCatalogCommands } from './commands.ts';
import { CatalogHealth } from './health.ts';
import { registerExportCommands } from './exportCommand.ts';
import { registerRepairCommand } from './repairCommand.ts';
import { CatalogTree, type TreeContext } from './tree.ts';
import { TreeFolds } from './treeFolds.ts';
import { TreeUpdates } from './treeUpdates.ts';

type TreeDeps = {
  connections: Connections;
  catalogs: Catalogs;
  engine: Engine;
  abilities: Abilities;
  health: CatalogHealth;
  folds: TreeFolds;
  report: (what: string, error: unknown) => void;
};

const treeContext = ({ connections, catalogs, engine, abilities, health, folds, report }: TreeDeps): TreeContext => ({
  catalog: (name) => catalogs.get(name),
  answered: ({ connection, path }, catalog) => {
    // Update the abilities after each response, because the user may have changed the connection to another server.
    void abilities.update(connection, catalog);
    if (path.length === 0) void health.inspect(connections.get(connection));
  },
  problems: (name) => health.of(name),
  abilities: (name) => abilities.of(name),
  folds,
  remedy: (name, error) => {
    const isServer = connections.list().some((one) => one.name === name && one.kind === 'rest');
    if (isServer) return serverErrorAction(error);
    return engine.problem ? 'restart' : 'retry';
  },
  report,
});

type CatalogServices = ReturnType<typeof catalogServices>;

export function catalogServices({ log, report, state, secrets, engine }: HostServices) {
  registerImplementations(engine);
  const connections = new Connections(state, secrets);
  const catalogs = new Catalogs(connections, log);
  const abilities = new Abilities(report);
  const health = new CatalogHealth(engine, report);
  const folds = new TreeFolds({ state, report });
  const tree = new CatalogTree(
    () => connections.list(),
    treeContext({ connections, catalogs, engine, abilities, health, folds, report }),
  );
  const view = vscode.window.createTreeView(viewIds.catalog, { treeDataProvider: tree, showCollapseAll: true });
  const updates = new TreeUpdates({
    tree,
    view,
    connections: () => connections.list(),
    onDidChangeConnections: connections.onDidChange,
    report,
  });
  const catalogOf = (name: string) => catalogs.get(name);
  return { connections, catalogs, catalogOf, abilities, health, tree, view, updates };
}

export function registerCatalog(parts: HostServices & CatalogServices & { panels: TablePanels }): vscode.Disposable {
  const { engine, connections, catalogs, abilities, health, tree, view, updates } = parts;
  return vscode.Disposable.from(
    connections,
    catalogs,
    abilities,
    health,
    updates,
    tree,
    view,
    connections.onDidChange(() => tree.refresh()),
    engine.onDidChange(() => tree.refresh()),
    abilities.onDidChange((name) => tree.redraw(name)),
    health.onDidChange((connection) => tree.refresh({ kind: 'connection', connection })),
    view.onDidChangeSelection(({ selection: [row] }) =>
      setContext('lanceCatalog.catalog.selected', (row && tree.getTreeItem(row).contextValue) ?? ''),
    ),
    view.onDidCollapseElement(({ element }) => tree.collapsed(element)),
    view.onDidExpandElement(({ element }) => tree.expanded(element)),
    view.onDidChangeVisibility(({ visible }) => {
      if (!visible) return;
      connections.readAgain();
      if (connections.needEngine) engine.warm();
    }),
    registerCatalogCommands(parts),
    registerConnectionCommands(parts),
    registerChangeCommands(parts),
    registerExportCommands(parts),
    registerRepairCommand(parts),
  );
}
