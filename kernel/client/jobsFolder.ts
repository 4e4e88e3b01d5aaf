import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { isJobId } from '#shared/jobs/jobId.ts';
import { dataFolder } from './personFolders.ts';

/** In the folder of a job from its start to its end; left behind where its process was killed. */
export const processFile = 'process.json';

/** Where the jobs of this person on this machine keep their records, a folder each. It may not be there. */
export const jobsFolder = (): string => join(dataFolder(), 'jobs');

/** Whether some job may be at work, without reading a record: who wants to know more has to open them. */
export async function mayHaveRunningJobs(folder: string = jobsFolder()): Promise<boolean> {
  const names = await readdir(folder).catch(() => []);
  const marks = names.filter(isJobId).map((id) => stat(join(folder, id, processFile)).then(Boolean, () => false));
  return (await Promise.all(marks)).includes(true);
}
