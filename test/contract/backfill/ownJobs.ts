import { join } from 'node:path';
import { openJobs } from '#jobs/service/openJobs.ts';
import type { JobView } from '#shared/jobs/jobView.ts';
import { isActive } from '#shared/jobs/jobLabels.ts';
import { inRoot } from '../../../scripts/paths.ts';
import { tempFolder } from '../../harness/temp.ts';

export const soon = (): AbortSignal => AbortSignal.timeout(120_000);

/** Jobs in a folder of their own, by the product's own bundle of a job's process, with the runners that it has. */
export function ownJobs() {
  const folder = join(tempFolder(), 'jobs');
  // What was agreed to on this machine is nobody's but this run's.
  process.env['XDG_DATA_HOME'] = tempFolder();
  const jobs = openJobs({ folder, entry: inRoot('dist/job.cjs') });
  const ended = async (id: string): Promise<JobView> => {
    for await (const view of jobs.follow(id, soon())) if (!isActive(view)) return view;
    return jobs.view(id, soon());
  };
  return { folder, jobs, ended };
}
