import type { JobView } from '#shared/jobs/jobView.ts';
import type { JobAction } from '#shared/jobs/jobPageMessages.ts';
import { showError, showInformation, showWarning } from '../host/messages.ts';
import { endText } from './jobEnds.ts';

type JobNoticesDeps = {
  /** Whether the page of the job is visible, so that no notification is needed. */
  readonly isSeen: (id: string) => boolean;
  readonly show: (id: string) => void;
  readonly act: (action: JobAction, id: string) => Promise<void>;
};

const [openTable, resume, showJob] = ['Open Table', 'Resume', 'Show Job'] as const;

/** Notifies the user about ended jobs whose page is not visible. Skips cancelled jobs. */
export async function notifyFinishedJobs(
  views: readonly JobView[],
  { isSeen, show, act }: JobNoticesDeps,
): Promise<void> {
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

function tell(view: JobView): Promise<string | undefined> {
  const text = endText(view);
  if (view.state === 'succeeded')
    return view.errors.count > 0 ? showWarning(text, showJob, openTable) : showInformation(text, openTable, showJob);
  if (view.state === 'interrupted') return showWarning(text, resume, showJob);
  return showError(text, showJob, ...(view.can.resume ? [resume] : []));
}
