import { idleProgress } from '#shared/jobs/foldEvents.ts';
import type { JobView } from '#shared/jobs/jobView.ts';
import { isActive } from '#shared/jobs/jobLabels.ts';
import type { ProcessEnded } from './control.ts';
import type { JobRecord } from './jobRecord.ts';

export type Liveness =
  | { readonly kind: 'here'; readonly pid: number; readonly answers: boolean }
  | { readonly kind: 'elsewhere'; readonly host: string }
  /** @param words last error output of the process, or empty */
  | (ProcessEnded & { readonly words: string });

/**
 * Time that the process of a queued job may need to start. Normally the process that starts the job reports a failure
 * earlier.
 */
const queuedMs = 60_000;

/** Converts a job record to the data that views show. @param now milliseconds since 1970 */
export function toJobView(record: JobRecord, liveness: Liveness, now: number): JobView {
  const { id, createdAt, table, column, functionName, functionHash, options, runner, runnerReason } = record;
  const progress = progressOf(record, liveness, now);
  const active = isActive(progress);
  const isDone = progress.state === 'succeeded';
  const isHere = liveness.kind === 'here';
  return {
    id,
    createdAt,
    table,
    column,
    functionName,
    functionHash,
    options,
    runner,
    runnerReason,
    ...progress,
    can: {
      cancel: active && isHere,
      resume: !active && !isDone,
      retry: isDone && (progress.errors.count > 0 || progress.skipped > 0),
      remove: !active,
    },
  };
}

function progressOf({ progress }: JobRecord, liveness: Liveness, now: number): JobRecord['progress'] {
  if (!isActive(progress)) return progress;
  switch (liveness.kind) {
    case 'here':
      if (liveness.answers) return progress;
      return {
        ...progress,
        bottleneck: `Its process (${liveness.pid}) does not respond: it was stopped, or the machine is very busy.`,
      };
    case 'elsewhere':
      return { ...progress, sentence: `${progress.sentence} It runs on ${liveness.host}; cancel it there.` };
    case 'gone':
      if (isStarting(progress, liveness, now)) return progress;
      return idleProgress(progress, { state: 'interrupted', sentence: goneSentence(liveness.words) });
  }
}

/** Whether the job's process may still start: no process has started and ended yet. */
export function isStarting(
  { state, startedAt = 0 }: Pick<JobView, 'state' | 'startedAt'>,
  { markedAt = 0 }: ProcessEnded,
  now: number,
): boolean {
  return state === 'queued' && now - startedAt < queuedMs && markedAt <= startedAt;
}

function goneSentence(words: string): string {
  const how = words === '' ? 'killed, or the machine shut down' : words;
  return `Its process ended unexpectedly (${how}). Computed rows are kept: resume the job to continue.`;
}
