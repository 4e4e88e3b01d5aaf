import type * as vscode from 'vscode';
import type { KernelProcess } from '#processes/kernelProcess.ts';
import { isKernelOutput, type ExecuteReply, type KernelRun } from '#shared/protocol/kernelMessages.ts';
import type { Log } from '../host/log.ts';
import { findCell } from './cellLocation.ts';
import { CellRun } from './cellRun.ts';
import type { LateOutputs } from './timerOutputs.ts';
import type { Displays } from './outputs.ts';

type ResumeDeps = {
  notebook: vscode.NotebookDocument;
  controller: vscode.NotebookController;
  displays: Displays;
  late: LateOutputs;
  log: Log;
};

/**
 * Shows what a notebook's cells did while the window was closed, and continues with the running cell. The document
 * lacks outputs of the cell that ran when the window closed, so all outputs of that cell are shown again.
 * @returns whether the last run succeeded, so that the waiting cells may run
 */
export async function resumeRuns(
  kernel: KernelProcess,
  runs: readonly KernelRun[],
  { notebook, controller, displays, late, log }: ResumeDeps,
  follow: (run: CellRun, work: () => Promise<ExecuteReply>) => Promise<boolean>,
): Promise<boolean> {
  let goesOn = true;
  for (const run of runs) {
    const { id, ended, startedAt, messages } = run;
    const cell = findCell(notebook, run.cell, run.code);
    goesOn = ended?.success === true;
    if (!cell) {
      log.debug('a cell that ran while the window was closed is no longer in the notebook');
      if (!ended) goesOn = (await kernel.resume(id, () => {}).catch(() => undefined))?.status === 'ok';
    } else if (ended && run.isSeen) {
      late.know(id, { cell, order: run.executionCount ?? undefined, startedAt, ended });
      for (const message of messages) if (isKernelOutput(message)) late.receive(message);
    } else {
      const shown = new CellRun(controller.createNotebookCellExecution(cell), displays, startedAt);
      late.know(id, shown);
      for (const message of messages) shown.take(message);
      if (ended) shown.end(ended.success, ended.at);
      else goesOn = await follow(shown, () => kernel.resume(id, (message) => shown.take(message)));
    }
  }
  return goesOn;
}
