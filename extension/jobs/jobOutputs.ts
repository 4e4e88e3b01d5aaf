import * as vscode from 'vscode';
import {
  isJobOutputRequest,
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

type JobOutputsParts = {
  readonly log: Log;
  readonly host: Pick<JobsHost, 'board' | 'onDidChange' | 'watch'>;
  readonly actions: Pick<JobActions, 'act'>;
  readonly pages: Pick<JobPages, 'show'>;
};

/** What renderers are spoken with; the editor's own, or in tests something that stands for it. */
export type JobMessaging = Pick<vscode.NotebookRendererMessaging, 'onDidReceiveMessage' | 'postMessage'>;

/** Jobs in the outputs of cells: tells their renderer how they are, and does what their buttons say. */
export function registerJobOutputs(
  parts: JobOutputsParts,
  messaging: JobMessaging = vscode.notebooks.createRendererMessaging(notebookIds.jobRenderer),
): vscode.Disposable {
  const { log, host, actions, pages } = parts;
  // Only what an output shows is told: a window may know of hundreds of jobs.
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
    // One more output of it may be new.
    told.delete(request.id);
    // A saved output says what it says where nobody may ask about jobs: in a folder that is not trusted.
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
  );
}
