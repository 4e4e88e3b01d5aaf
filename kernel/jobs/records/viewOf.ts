import { atRest } from '#shared/jobs/foldEvents.ts';
import type { JobView } from '#shared/jobs/jobView.ts';
import { isActive } from '#shared/jobs/jobLabels.ts';
import type { Gone } from './control.ts';
import type { JobRecord } from './jobRecord.ts';

/** What is known of the process of a job beside what its record says. */
export type Liveness =
  | { readonly kind: 'here'; readonly pid: number; readonly answers: boolean }
  | { readonly kind: 'elsewhere'; readonly host: string }
  /** @param words what it said last, where it said anything */
  | (Gone & { readonly words: string });

/** How long a job may be on its way to its process: whoever starts it sees to it that it comes up, or says that it did not. */
const queuedMs = 60_000;

/** A job as views show it. @param now milliseconds since 1970 */
export function viewOf(record: JobRecord, liveness: Liveness, now: number): JobView {
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
        bottleneck: `Its process (${liveness.pid}) does not answer: it was stopped, or the machine is very busy.`,
      };
    case 'elsewhere':
      return { ...progress, sentence: `${progress.sentence} It runs on ${liveness.host}, and is cancelled there.` };
    case 'gone':
      if (isOnItsWay(progress, liveness, now)) return progress;
      return atRest(progress, { state: 'interrupted', sentence: goneSentence(liveness.words) });
  }
}

/** Whether the process of a job may come up yet: one that did, and is gone, will not. */
export function isOnItsWay(
  { state, startedAt = 0 }: Pick<JobView, 'state' | 'startedAt'>,
  { markedAt = 0 }: Gone,
  now: number,
): boolean {
  return state === 'queued' && now - startedAt < queuedMs && markedAt <= startedAt;
}

function goneSentence(words: string): string {
  const how = words === '' ? 'killed, or the machine went down' : words;
  return `Its process ended without telling how (${how}). What was computed is kept: resume it to go on from there.`;
}
