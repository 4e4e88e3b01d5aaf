import * as vscode from 'vscode';
import type { HostServices } from '../host/register.ts';
import { viewIds } from '../manifest.ts';
import type { TablePanels } from '../panels/tablePanel.ts';
import { Abilities } from './abilities.ts';
import { Catalogs } from './catalogs.ts';
import { registerChangeCommands } from './changeCommands.ts';
import { registerCatalogCommands } from './commands.ts';
import { registerConnectionCommands } from './connectionCommands.ts';
import { Connections } from './connections.ts';
import { CatalogHealth } from './health.ts';
import { registerImplementations } from './implementations.ts';
import { registerRepairCommand } from './repairCommand.ts';
import { CatalogTree } from './tree.ts';
import { treeContext } from './treeContext.ts';

export type CatalogServices = ReturnType<typeof catalogServices>;

/** The connections, the catalog behind each, and the view in which they stand. */
export function catalogServices({ log, report, state, secrets, engine }: HostServices) {
  registerImplementations(engine);
  const connections = new Connections(state, secrets);
  const catalogs = new Catalogs(connections, log);
  const abilities = new Abilities(report);
  const health = new CatalogHealth(engine, report);
  const tree = new CatalogTree(
    () => connections.list(),
    treeContext({ connections, catalogs, engine, abilities, health, report }),
  );
  const view = vscode.window.createTreeView(viewIds.catalog, { treeDataProvider: tree, showCollapseAll: true });
  return { connections, catalogs, catalogOf: (name: string) => catalogs.get(name), abilities, health, tree, view };
}

/** What the view follows, its commands, and the end of these services. */
export function registerCatalog(parts: HostServices & CatalogServices & { panels: TablePanels }): vscode.Disposable {
  const { engine, connections, catalogs, abilities, health, tree, view } = parts;
  return vscode.Disposable.from(
    connections,
    catalogs,
    abilities,
    health,
    tree,
    view,
    connections.onDidChange(() => tree.refresh()),
    engine.onDidChange(() => tree.refresh()),
    abilities.onDidChange((name) => tree.redraw(name)),
    health.onDidChange((connection) => tree.refresh({ kind: 'connection', connection })),
    view.onDidCollapseElement(({ element }) => tree.collapsed(element)),
    view.onDidExpandElement(({ element }) => tree.expanded(element)),
    view.onDidChangeVisibility(({ visible }) => visible && connections.needEngine && engine.warm()),
    registerCatalogCommands(parts),
    registerConnectionCommands(parts),
    registerChangeCommands(parts),
    registerRepairCommand(parts),
  );
}
