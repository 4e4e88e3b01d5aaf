import type { JobView } from '#shared/jobs/jobView.ts';
import { isActive } from '#shared/jobs/jobLabels.ts';

/**
 * The jobs of this person on this machine, as data. Every change makes a new one, so that a look at it stays what it was.
 * `undefined` in place of a board means that nobody has asked yet.
 */
export type JobBoard = ReadonlyMap<string, JobView>;

/** The board after some jobs have changed and others are gone. */
export function withJobs(board: JobBoard, changed: readonly JobView[], removed: readonly string[] = []): JobBoard {
  const next = new Map(board);
  for (const view of changed) next.set(view.id, view);
  for (const id of removed) next.delete(id);
  return next;
}

/** What needs a person's eye comes first: jobs at work, then those cut off, then what has ended, the newest first. */
export const jobsInOrder = (board: JobBoard): readonly JobView[] =>
  [...board.values()].toSorted((a, b) => rank(a) - rank(b) || timeOf(b) - timeOf(a) || (a.id < b.id ? 1 : -1));

const rank = (view: JobView): number => (isActive(view) ? 0 : view.state === 'interrupted' ? 1 : 2);

const timeOf = ({ createdAt, endedAt }: JobView): number => endedAt ?? createdAt;

export const activeJobs = (board: JobBoard): readonly JobView[] => [...board.values()].filter(isActive);

/** Jobs that were at work on the board before and have ended on this one. */
export const endedSince = (before: JobBoard, now: JobBoard): readonly JobView[] =>
  [...now.values()].filter((view) => {
    const known = before.get(view.id);
    return known !== undefined && isActive(known) && !isActive(view);
  });
