import { readdir, readFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { isJobId } from '#shared/jobs/jobId.ts';
import { dataFolder } from './userFolders.ts';
import { isRunning } from './running.ts';

/** In the folder of a job from its start to its end; left behind where its process was killed. */
export const processFile = 'process.json';

/** Where the jobs of this person on this machine keep their records, a folder each. It may not be there. */
export const jobsFolder = (): string => join(dataFolder(), 'jobs');

/** Whether some job may be at work, without reading a record: who wants to know more has to open them. */
export async function mayHaveRunningJobs(folder: string = jobsFolder()): Promise<boolean> {
  const names = await readdir(folder).catch(() => []);
  const marks = names.filter(isJobId).map((id) => mayRun(join(folder, id, processFile)));
  return (await Promise.all(marks)).includes(true);
}

/** Another process may have the number by now: then somebody looks in vain. */
async function mayRun(path: string): Promise<boolean> {
  try {
    const { pid, host } = Object(JSON.parse(await readFile(path, 'utf8'))) as { pid?: unknown; host?: unknown };
    return host !== hostname() || (typeof pid === 'number' && pid > 0 && isRunning(pid));
  } catch {
    return false;
  }
}
