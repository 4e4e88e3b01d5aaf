import type { JobView } from '#shared/jobs/jobView.ts';
import { isActive } from '#shared/jobs/jobLabels.ts';

/**
 * The jobs of this user on this machine. Every change creates a new board, so that callers can compare it with an
 * earlier board.
 */
export type JobListState = ReadonlyMap<string, JobView>;

export function withJobs(
  board: JobListState,
  changed: readonly JobView[],
  removed: readonly string[] = [],
): JobListState {
  const next = new Map(board);
  for (const view of changed) next.set(view.id, view);
  for (const id of removed) next.delete(id);
  return next;
}

/**
 * Sorts by importance for the user: active jobs, then interrupted jobs, then all others. Within each group, the newest
 * job is first.
 */
export const jobsInOrder = (board: JobListState): readonly JobView[] =>
  [...board.values()].toSorted((a, b) => rank(a) - rank(b) || timeOf(b) - timeOf(a) || (a.id < b.id ? 1 : -1));

const rank = (view: JobView): number => (isActive(view) ? 0 : view.state === 'interrupted' ? 1 : 2);

const timeOf = ({ createdAt, endedAt }: JobView): number => endedAt ?? createdAt;

export const activeJobs = (board: JobListState): readonly JobView[] => [...board.values()].filter(isActive);

/** Returns the jobs that were active on the board `before` and have ended on the board `now`. */
export const endedSince = (before: JobListState, now: JobListState): readonly JobView[] =>
  [...now.values()].filter((view) => {
    const known = before.get(view.id);
    return known !== undefined && isActive(known) && !isActive(view);
  });
