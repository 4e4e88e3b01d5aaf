import { join } from 'node:path';
import { openJobs } from '#jobs/service/openJobs.ts';
import type { JobView } from '#shared/jobs/jobView.ts';
import { isActive } from '#shared/jobs/jobLabels.ts';
import { inRoot } from '../../../scripts/paths.ts';
import { tempFolder } from '../../harness/temp.ts';

export const soon = (): AbortSignal => AbortSignal.timeout(120_000);

/** Returns jobs in a separate folder, run by the product's own bundle with its runners. */
export function ownJobs() {
  const folder = join(tempFolder(), 'jobs');
  // Use a separate folder, because functions accepted in this run must not affect the user's state.
  process.env['XDG_DATA_HOME'] = tempFolder();
  const jobs = openJobs({ folder, entry: inRoot('dist/job.cjs') });
  const ended = async (id: string): Promise<JobView> => {
    for await (const view of jobs.follow(id, soon())) if (!isActive(view)) return view;
    return jobs.view(id, soon());
  };
  return { folder, jobs, ended };
}
