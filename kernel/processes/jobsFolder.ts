import { readdir, readFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { isJobId } from '#shared/jobs/jobId.ts';
import { dataFolder } from './userFolders.ts';
import { isProcessRunning } from './running.ts';

/** File in the folder of a running job. It remains if the process was killed. */
export const processFile = 'process.json';

/** Folder of the user's job records on this machine, one folder per job. It may not exist. */
export const jobsFolder = (): string => join(dataFolder(), 'jobs');

/** Whether a job may be running. Reads no records, so a caller has to open them for certainty. */
export async function mayHaveRunningJobs(folder: string = jobsFolder()): Promise<boolean> {
  const names = await readdir(folder).catch(() => []);
  const marks = names.filter(isJobId).map((id) => mayRun(join(folder, id, processFile)));
  return (await Promise.all(marks)).includes(true);
}

/**
 * Whether the process that a process file names may run. If another process has that id now, the result is true, and
 * the caller reads the records without need.
 */
async function mayRun(path: string): Promise<boolean> {
  try {
    const { pid, host } = Object(JSON.parse(await readFile(path, 'utf8'))) as { pid?: unknown; host?: unknown };
    return host !== hostname() || (typeof pid === 'number' && pid > 0 && isProcessRunning(pid));
  } catch {
    return false;
  }
}
