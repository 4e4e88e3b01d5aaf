import { setTimeout as sleep } from 'node:timers/promises';
import { findProcess, type Control, type ProcessLookup } from '#jobs/records/control.ts';
import type { JobFolders } from '#jobs/records/jobFolder.ts';
import { isStarting } from '#jobs/records/toJobView.ts';
import type { JobRecord } from '#jobs/records/jobRecord.ts';
import { idleProgress } from '#shared/jobs/foldEvents.ts';
import { JobError } from '#shared/jobs/jobErrors.ts';
import { isActive, runnerLabels } from '#shared/jobs/jobLabels.ts';

/** Milliseconds for a job to store its results and end its work on other machines. */
const patienceMs = 60_000;
/** Milliseconds for a process to end after a signal. */
const signalMs = 5000;
/** Interval of checks for the process of a queued job. */
const lookMs = 100;

type Cancel = {
  readonly folders: JobFolders;
  readonly id: string;
  readonly signal: AbortSignal;
  /** Milliseconds before signals are sent; for tests. */
  readonly patience?: number | undefined;
};

/**
 * Cancels a job by a request, then by signals, and waits for the end of its process.
 * @throws JobError Internal if the process can't be ended, RequestInvalid if it runs on another machine
 */
export async function cancelJob({ folders, id, signal, patience = patienceMs }: Cancel): Promise<void> {
  const found = await processOf(folders, id, signal);
  switch (found.kind) {
    case 'elsewhere':
      throw new JobError('RequestInvalid', `Job ${id} runs on ${found.host}.`, 'Cancel it there.');
    case 'gone':
      return;
    case 'here':
      break;
  }
  const { control } = found;
  try {
    // Resumes a process that was stopped by a signal, so that it can handle the request.
    sendSignal(control.pid, 'SIGCONT');
    void control.cancel(signal).catch(() => undefined);
    if (await endsWithin(control, patience, signal)) return;
    for (const name of ['SIGTERM', 'SIGKILL'] as const) {
      sendSignal(control.pid, name);
      if (await endsWithin(control, signalMs, signal)) return recordEnd(folders, id);
    }
  } finally {
    control.close();
  }
  const what = `Can't end the process of job ${id} (${control.pid}): the system blocks it.`;
  throw new JobError('Internal', what, 'It may wait for a disk or a network folder. Check it with ps.');
}

/** Finds the process of a job. Waits if the process is about to start. */
async function processOf(folders: JobFolders, id: string, signal: AbortSignal): Promise<ProcessLookup> {
  for (;;) {
    const found = await findProcess(folders.of(id), signal);
    const progress = folders.read(id)?.progress;
    if (found.kind !== 'gone' || !progress || !isStarting(progress, found, Date.now())) return found;
    await sleep(lookMs, undefined, { signal });
  }
}

/** Sends a signal to a process, and to its child processes if the system has process groups. */
function sendSignal(pid: number, name: NodeJS.Signals): void {
  try {
    if (process.platform !== 'win32') process.kill(-pid, name);
    else if (name !== 'SIGCONT') process.kill(pid, name);
  } catch {
    // The error is ignored, because the process has already ended.
  }
}

async function endsWithin(control: Control, milliseconds: number, signal: AbortSignal): Promise<boolean> {
  const stop = new AbortController();
  try {
    const late = sleep(milliseconds, false, { signal: AbortSignal.any([signal, stop.signal]) });
    return await Promise.race([control.ended.then(() => true), late]);
  } finally {
    stop.abort();
  }
}

/** Records the end of a job if the process of the job could not record it. */
function recordEnd(folders: JobFolders, id: string): void {
  const record = folders.read(id);
  if (!record || !isActive(record.progress)) return;
  const end = { state: 'cancelled', endedAt: Date.now(), sentence: forcedSentence(record) } as const;
  const progress = idleProgress(record.progress, end);
  folders.write({ ...record, progress }, { isLasting: true });
}

function forcedSentence({ runner }: JobRecord): string {
  const elsewhere = runner === 'ray' || runner === 'rest' ? ` The job may continue in ${runnerLabels[runner]}.` : '';
  return `It did not stop when cancelled and was killed.${elsewhere} Computed rows are kept.`;
}
