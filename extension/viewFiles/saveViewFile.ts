import { homedir } from 'node:os';
import * as path from 'node:path';
import * as vscode from 'vscode';
import { CatalogError } from '#shared/errors.ts';
import { displayPath } from '#shared/names.ts';
import { viewFileEnding, writeViewFile } from '#shared/viewFile.ts';
import type { Connections } from '../connections/connections.ts';
import type { Connection } from '../explorer/node.ts';
import { confirm, pickOne } from '../host/ask.ts';
import { showDone } from '../host/messages.ts';
import type { TablePanels } from '../panels/tablePanels.ts';
import type { TablePlace } from '../panels/tableSource.ts';
import type { ViewApprovals } from './viewApprovals.ts';
import { describeConnection } from './viewConnection.ts';

type SaveDeps = {
  readonly panels: TablePanels;
  readonly connections: Pick<Connections, 'list'>;
  readonly approvals: ViewApprovals;
};

/** Milliseconds for which the status bar says that a file was written. */
const doneMs = 5000;

/** Writes what the active panel shows to a view file. @param given the file; asks for it by default */
export async function saveViewFile({ panels, connections, approvals }: SaveDeps, given?: vscode.Uri): Promise<void> {
  const { active } = panels;
  if (!active) return;
  const { place, shown } = await active.shownView.current();
  const version = given ? shown.version : await chooseVersion(shown.version);
  if (version === 'canceled') return;
  const target = given ?? (await askFile(active.shownView.fileUri, shown.name, place));
  if (!target) return;
  if (target.scheme !== 'file' || !target.path.endsWith(viewFileEnding))
    throw new CatalogError(
      'InvalidInput',
      `Can't save the view as "${path.posix.basename(target.path)}": it is not a view file of this machine.`,
      `Choose a name that ends with ${viewFileEnding}.`,
    );
  const connection = connectionOf(place, connections.list());
  const { workspaceFolders = [] } = vscode.workspace;
  const text = writeViewFile({
    connection: describeConnection(connection, {
      folder: path.dirname(target.fsPath),
      home: homedir(),
      workspace: workspaceFolders.map(({ uri }) => uri.fsPath),
    }),
    table: [...place.path, place.table],
    version,
    view: shown.view,
    columns: shown.columns,
  });
  // The user sees these rows already.
  await approvals.approve(text, connection);
  await vscode.workspace.fs.writeFile(target, new TextEncoder().encode(text));
  showDone(`Saved the view as ${path.posix.basename(target.path)}`, doneMs);
}

/** The connection of a job's table may be the path of its root. */
const connectionOf = ({ connection }: TablePlace, all: readonly Connection[]): Connection =>
  all.find(({ name }) => name === connection) ?? { kind: 'dir', name: connection, root: connection, source: 'person' };

/** Asks whether a file means the version that is shown, if the user chose this version. */
async function chooseVersion(version: number | undefined): Promise<number | undefined | 'canceled'> {
  if (version === undefined) return undefined;
  const chosen = await pickOne<{ version: number | undefined }>('Which version does the file show?', [
    { label: 'Newest Version', description: 'when the file is opened', value: { version: undefined } },
    { label: `Version ${version}`, description: 'always', value: { version } },
  ]);
  return chosen ? chosen.version : 'canceled';
}

async function askFile(
  file: vscode.Uri | undefined,
  name: string,
  { path: namespaces, table }: TablePlace,
): Promise<vscode.Uri | undefined> {
  const folder = vscode.workspace.workspaceFolders?.[0]?.uri ?? vscode.Uri.file(homedir());
  // Names may have characters that a file can't have.
  const base = (name || table).replaceAll(/[^\p{L}\p{N}._-]+/gu, '-');
  const chosen = await vscode.window.showSaveDialog({
    title: `Save View of ${displayPath(namespaces, table)}`,
    saveLabel: 'Save View',
    // The dialog of a remote window adds an ending that has a dot in it, also if the name has it already.
    filters: { 'Lance view': ['json'] },
    defaultUri: file ?? vscode.Uri.joinPath(folder, `${base}${viewFileEnding}`),
  });
  if (!chosen || chosen.path.endsWith(viewFileEnding)) return chosen;
  const named = chosen.with({ path: chosen.path.replace(/(?:\.json)?$/, viewFileEnding) });
  return (await mayWrite(named)) ? named : undefined;
}

/** The dialog has asked about another name. */
async function mayWrite(file: vscode.Uri): Promise<boolean> {
  const isThere = await vscode.workspace.fs.stat(file).then(
    () => true,
    () => false,
  );
  const name = path.posix.basename(file.path);
  return !isThere || confirm(`"${name}" already exists.`, 'Its content will be replaced.', 'Replace');
}
