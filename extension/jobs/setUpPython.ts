import * as vscode from 'vscode';
import { findNode } from '#client/childProcess.ts';
import { confirm } from '../host/ask.ts';
import { setting } from '../host/settings.ts';

/**
 * Offers an environment of Python with what backfills need, and has the command line make it in a terminal, where a person
 * sees how far it is and can end it.
 * @param cli the bundle of the command line
 */
export async function setUpPython(cli: string): Promise<void> {
  const wanted = await confirm(
    'Set up a Python environment for backfills?',
    'About 450 MB are downloaded from the package index that pip is set to, into the data folder of Lance Catalog. ' +
      '"lance-catalog python remove" removes all of it. Choose "Backfill Column…" again once it is there.',
    'Set Up',
  );
  if (!wanted) return;
  const nodePath = setting('lanceCatalog.nodePath');
  const node = await findNode({ ...(nodePath && { nodePath }) });
  const terminal = vscode.window.createTerminal({
    name: 'Python for Backfills',
    shellPath: node.path,
    shellArgs: [cli, 'python', 'install'],
    env: node.env,
  });
  terminal.show();
}
