import * as vscode from 'vscode';
import {
  isJobOutputRequest,
  jobOutputMime,
  type JobOutputAction,
  type JobOutputNews,
  type JobOutputRequest,
} from '#shared/jobs/jobOutput.ts';
import type { JobView } from '#shared/jobs/jobView.ts';
import { runCommand } from '../host/commands.ts';
import { logFailure, type Log } from '../host/log.ts';
import { notebookIds } from '../manifest.ts';
import type { JobActions } from './jobActions.ts';
import { jobOf } from './jobNode.ts';
import type { JobPages } from './jobPages.ts';
import type { JobsHost } from './jobsHost.ts';

type JobOutputsDeps = {
  readonly log: Log;
  readonly host: Pick<JobsHost, 'board' | 'onDidChange' | 'wake' | 'watch'>;
  readonly actions: Pick<JobActions, 'act'>;
  readonly pages: Pick<JobPages, 'show'>;
};

/** The messaging with renderers: VS Code's, or a substitute in tests. */
export type JobMessaging = Pick<vscode.NotebookRendererMessaging, 'onDidReceiveMessage' | 'postMessage'>;

/** Sends the state of jobs in cell outputs to the renderer, and handles the buttons of the renderer. */
export function registerJobOutputs(
  parts: JobOutputsDeps,
  messaging: JobMessaging = vscode.notebooks.createRendererMessaging(notebookIds.jobRenderer),
): vscode.Disposable {
  const { log, host, actions, pages } = parts;
  // The ids of jobs in cell outputs. Only these jobs are sent, because a window may know hundreds of jobs.
  const shown = new Set<string>();
  const told = new Map<string, JobView>();

  const tell = (): void => {
    const news = [...shown].flatMap((id) => {
      const job = host.board.get(id);
      if (!job || told.get(id) === job) return [];
      told.set(id, job);
      return [job];
    });
    if (news.length > 0) send(news);
  };
  const send = (jobs: readonly JobView[]): void => {
    const message: JobOutputNews = { kind: 'jobs', jobs };
    void messaging.postMessage(message);
  };
  const act = async (action: JobOutputAction, id: string): Promise<void> => {
    shown.add(id);
    await host.watch();
    const { id: there } = jobOf(host.board, id);
    if (action === 'open') return void pages.show(there);
    await actions.act(action, there);
  };
  const answer = async (request: JobOutputRequest): Promise<void> => {
    if (request.kind === 'act') {
      await runCommand(log, 'a job in the output of a cell', () => act(request.action, request.id));
      return;
    }
    shown.add(request.id);
    // Send the state again, even if another output with the same job has received it.
    told.delete(request.id);
    // In an untrusted folder jobs can't be requested; the output keeps its saved state.
    if (!vscode.workspace.isTrusted) return;
    try {
      await host.watch();
    } catch (error) {
      return logFailure(log, 'looking for a job in the output of a cell', error);
    }
    tell();
  };
  return vscode.Disposable.from(
    messaging.onDidReceiveMessage(({ message }) => {
      if (isJobOutputRequest(message)) void answer(message);
    }),
    host.onDidChange(tell),
    // A job that a cell starts may be the first job, and its output may be out of sight.
    vscode.workspace.onDidChangeNotebookDocument(({ cellChanges }) => {
      const outputs = cellChanges.flatMap((change) => change.outputs ?? []);
      if (outputs.some(({ items }) => items.some(({ mime }) => mime === jobOutputMime))) host.wake();
    }),
  );
}
