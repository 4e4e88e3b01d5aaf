import * as vscode from 'vscode';
import type { JobView } from '#shared/jobs/jobView.ts';
import { errorsText, jobTableText } from '#shared/jobs/jobWords.ts';
import type { JobAction } from '#shared/jobs/jobPageMessages.ts';

export type JobNoticesParts = {
  /** Whether the person sees the job end. */
  readonly isSeen: (id: string) => boolean;
  readonly show: (id: string) => void;
  readonly act: (action: JobAction, id: string) => Promise<void>;
};

const [openTable, resume, showJob] = ['Open Table', 'Resume', 'Show Job'] as const;

/** Tells of jobs that have ended while nobody looked at their page. Those that somebody cancelled need no telling. */
export async function tellEnds(views: readonly JobView[], { isSeen, show, act }: JobNoticesParts): Promise<void> {
  const told = views.filter(({ id, state }) => state !== 'cancelled' && !isSeen(id));
  await Promise.all(
    told.map(async (view) => {
      const choice = await tell(view);
      if (choice === showJob) show(view.id);
      if (choice === openTable) await act('table', view.id);
      if (choice === resume) await act('resume', view.id);
    }),
  );
}

function tell(view: JobView): Thenable<string | undefined> {
  const text = endText(view);
  if (view.state === 'succeeded')
    return view.errors.count > 0
      ? vscode.window.showWarningMessage(text, showJob, openTable)
      : vscode.window.showInformationMessage(text, openTable, showJob);
  if (view.state === 'interrupted') return vscode.window.showWarningMessage(text, resume, showJob);
  return vscode.window.showErrorMessage(text, showJob);
}

/** What a notification says: plain text, shown as text. */
export function endText({ state, column, table, sentence, failure, errors }: JobView): string {
  const what = `The backfill of "${column}" of ${jobTableText(table)}`;
  if (state === 'failed') return `${what} failed. ${failure?.message ?? sentence}`;
  if (state === 'interrupted') return `${what} was cut off. It goes on where it stopped when you resume it.`;
  return errors.count > 0 ? `${what} is done; ${errorsText({ errors })}.` : `${what} is done.`;
}
