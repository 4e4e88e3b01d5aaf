import * as vscode from 'vscode';
import { backfillCode } from '#shared/jobs/backfillCode.ts';
import { isActive } from '#shared/jobs/jobLabels.ts';
import { registerCommand } from '../host/commands.ts';
import type { Log } from '../host/log.ts';
import { showInformation } from '../host/messages.ts';
import { backfillColumn, type BackfillCommandDeps } from './backfill/backfillCommand.ts';
import type { JobActions } from './jobActions.ts';
import { jobOf } from './jobNode.ts';
import type { JobsView } from './jobsView.ts';
import { copyCode } from './backfill/planSession.ts';
import { removePython, setUpPython } from './backfill/setUpPython.ts';

type JobCommandDeps = BackfillCommandDeps & {
  readonly log: Log;
  readonly actions: JobActions;
  readonly jobsView: JobsView;
};

/** Registers the commands that start and manage jobs. Other files register the commands of job files and of Ray. */
export function registerJobCommands(parts: JobCommandDeps): vscode.Disposable {
  const { log, host, actions, pages, jobsView } = parts;
  const job = (given: unknown) => jobOf(host.board, given ?? jobsView.selected);
  return vscode.Disposable.from(
    registerCommand(log, 'lanceCatalog.backfill.column', async (node) => void (await backfillColumn(parts, node))),
    registerCommand(log, 'lanceCatalog.python.setUp', async () => {
      if (!(await setUpPython(parts.dist('cli.cjs')))) return;
      const backfill = 'Backfill Column…';
      const choice = await showInformation('Python for backfills is set up.', backfill);
      if (choice === backfill) await vscode.commands.executeCommand('lanceCatalog.backfill.column');
    }),
    registerCommand(log, 'lanceCatalog.python.remove', () => removePython(parts.dist('cli.cjs'))),
    registerCommand(log, 'lanceCatalog.jobs.show', async () => {
      await jobsView.focus();
      await host.watch();
    }),
    registerCommand(log, 'lanceCatalog.jobs.open', async (node = jobsView.selected) => void pages.show(job(node).id)),
    registerCommand(log, 'lanceCatalog.jobs.cancel', async (node) => actions.cancel(job(node))),
    registerCommand(log, 'lanceCatalog.jobs.resume', async (node) => actions.resume(job(node))),
    registerCommand(log, 'lanceCatalog.jobs.retry', async (node) => actions.resume(job(node))),
    registerCommand(log, 'lanceCatalog.jobs.openTable', async (node) => actions.openTable(job(node))),
    registerCommand(log, 'lanceCatalog.jobs.copyCode', async (node) => {
      const { table, column, options } = job(node);
      await copyCode(backfillCode(table, column, options));
    }),
    registerCommand(log, 'lanceCatalog.jobs.remove', async (node) => void (await actions.remove(job(node)))),
    registerCommand(log, 'lanceCatalog.jobs.removeEnded', async () => {
      // Keep interrupted jobs, because they are not complete.
      const ended = [...host.board.values()].filter(
        (one) => one.can.remove && !isActive(one) && one.state !== 'interrupted',
      );
      for (const { id } of ended) await host.request('remove', { id });
    }),
  );
}
