import type * as vscode from 'vscode';
import type { Damage } from '#shared/damage.ts';
import { confirm, withProgress } from '../host/ask.ts';
import { registerCommand } from '../host/commands.ts';
import type { Engine } from '../host/engine.ts';
import type { Log } from '../host/log.ts';
import { askModal, showInformation, showWarning } from '../host/messages.ts';
import { chooseConnection } from '../connections/connectionCommands.ts';
import { dirConfigOf } from '../connections/catalogs.ts';
import type { Connections } from '../connections/connections.ts';
import type { CatalogHealth } from './health.ts';
import type { CatalogNode, Connection, DirConnection } from './node.ts';

type RepairDeps = {
  log: Log;
  engine: Engine;
  connections: Connections;
  health: CatalogHealth;
  view: vscode.TreeView<CatalogNode>;
};

/** Maximum number of problems in a dialog. */
const mostProblems = 10;

/** Registers the command that shows problems of a catalog directory and repairs them if the user agrees. */
export const registerRepairCommand = (deps: RepairDeps): vscode.Disposable =>
  registerCommand(deps.log, 'lanceCatalog.catalog.repair', async (node) => {
    const chosen = node ?? deps.view.selection[0];
    const connection = await chooseConnection(
      deps.connections,
      chosen,
      'Select the connection whose catalog to repair',
      isDir,
    );
    if (connection && isDir(connection)) await repair(deps, connection);
  });

const isDir = (one: Connection): one is DirConnection => one.kind === 'dir' && one.problem === undefined;

async function repair({ engine, health, log }: RepairDeps, connection: DirConnection): Promise<void> {
  const { name } = connection;
  const config = dirConfigOf(connection);
  const { found } = await withProgress(`Inspecting "${name}"…`, (signal) => engine.inspect(config, signal));
  health.set(connection, found);
  if (found.length === 0) {
    void showInformation(`The catalog "${name}" has no damage.`);
    return;
  }
  const repairable = found.filter(({ isRepairable }) => isRepairable).length;
  if (repairable === 0) {
    await askModal(`The catalog "${name}" has ${counted(found.length)}`, listed(found));
    return;
  }
  if (!(await confirm(`Repair ${counted(repairable)} in "${name}"?`, listed(found), 'Repair'))) return;
  const { left } = await withProgress(`Repairing "${name}"…`, (signal) => engine.repair(config, signal));
  log.info(`repaired "${name}": ${found.map(({ message, fix }) => `${message} ${fix}`).join(' ')}`);
  health.set(connection, left);
  if (left.length === 0) void showInformation(`Repaired ${counted(found.length)} in "${name}".`);
  else void showWarning(`The catalog "${name}" still has ${counted(left.length)}.`);
}

const counted = (count: number): string => (count === 1 ? '1 problem' : `${count} problems`);

function listed(found: readonly Damage[]): string {
  const lines = found
    .slice(0, mostProblems)
    .map(({ message, fix, isRepairable }) => `${message}\n${isRepairable ? 'Fix' : 'Manual fix'}: ${fix}`);
  if (found.length > mostProblems) lines.push(`… and ${found.length - mostProblems} more`);
  return lines.join('\n\n');
}
