import * as vscode from 'vscode';
import { findNode } from '#processes/childProcess.ts';
import { confirm } from '../../host/ask.ts';
import { setting } from '../../host/settings.ts';

/** Subcommands of `lance-catalog python`. The command line creates and removes the environment. */
type Action = 'install' | 'remove';

const names = { install: 'Set Up Python for Backfills', remove: 'Remove Python for Backfills' } as const;

/**
 * Offers to create a Python environment for backfills. The command line creates the environment in a terminal, where
 * the user sees the progress and can cancel.
 * @param cli path of the command line bundle
 * @returns whether the environment exists now; false if the user declines
 */
export async function setUpPython(cli: string): Promise<boolean> {
  const wanted = await confirm(
    'Set up a Python environment for backfills?',
    'This downloads about 450 MB to the data folder of Lance Catalog, from the package index that pip uses. ' +
      `To remove it, run "${names.remove}…".`,
    'Set Up',
  );
  return wanted && (await runInTerminal(cli, 'install')) === 0;
}

/** Removes the Python environment for backfills and nothing else. */
export async function removePython(cli: string): Promise<void> {
  const wanted = await confirm(
    'Remove the Python environment for backfills?',
    'It is removed from the data folder of Lance Catalog. Jobs, their results and other Python installations stay.',
    'Remove',
  );
  if (wanted) await runInTerminal(cli, 'remove');
}

/** Runs the command line as a task in a terminal that stays open. @returns the exit code, if the process has one */
async function runInTerminal(cli: string, action: Action): Promise<number | undefined> {
  const nodePath = setting('lanceCatalog.nodePath');
  const node = await findNode({ ...(nodePath && { nodePath }) });
  const dataHome = process.env['XDG_DATA_HOME'];
  const task = new vscode.Task(
    { type: 'process' },
    vscode.TaskScope.Global,
    names[action],
    'Lance Catalog',
    // Pass these environment variables, because a terminal may have other values than the processes that use the Python
    // environment later.
    new vscode.ProcessExecution(node.path, [cli, 'python', action], {
      env: { ...node.env, ...(dataHome !== undefined && { XDG_DATA_HOME: dataHome }) },
    }),
    [],
  );
  task.presentationOptions = { reveal: vscode.TaskRevealKind.Always, echo: false, clear: true };
  let execution: vscode.TaskExecution | undefined;
  return new Promise((resolve, reject) => {
    const listening = vscode.tasks.onDidEndTaskProcess((ended) => {
      if (ended.execution !== execution && ended.execution.task.name !== task.name) return;
      listening.dispose();
      resolve(ended.exitCode);
    });
    vscode.tasks.executeTask(task).then(
      (started) => (execution = started),
      (error: unknown) => {
        listening.dispose();
        reject(error instanceof Error ? error : new Error(String(error)));
      },
    );
  });
}
