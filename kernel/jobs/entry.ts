import { readFile } from 'node:fs/promises';
import { fileProblem } from '#processes/fileProblem.ts';
import { messageOf } from '#shared/errors.ts';
import { JobError } from '#shared/jobs/jobErrors.ts';
import { type JobFile, readJobFile } from '#shared/jobs/jobFile.ts';

/** Limit in characters, far above any real job file. */
const longest = 1024 ** 2;

/**
 * Reads a job file.
 * @throws JobError RequestInvalid with the path and the first problem in the file
 */
export async function openJobFile(path: string, signal: AbortSignal): Promise<JobFile> {
  const { file, problems } = readJobFile(await jsonOf(path, signal));
  if (file) return file;
  const [first, ...more] = problems;
  const others =
    more.length === 0
      ? ''
      : ` There ${more.length === 1 ? 'is 1 more mistake' : `are ${more.length} more mistakes`} in it.`;
  throw new JobError(
    'RequestInvalid',
    `${path}: ${first?.what ?? 'the job file is empty or invalid.'}`,
    `${first?.hint ?? ''}${others}`,
  );
}

async function jsonOf(path: string, signal: AbortSignal): Promise<unknown> {
  let text: string;
  try {
    text = await readFile(path, { encoding: 'utf8', signal });
  } catch (cause) {
    if (signal.aborted) throw cause;
    throw new JobError('RequestInvalid', `Can't read job file ${path}: ${fileProblem(cause)}.`, 'Check the path.', {
      cause,
    });
  }
  if (text.length > longest)
    throw new JobError('RequestInvalid', `Can't read job file ${path}: it is too long.`, 'Check the path.');
  try {
    return JSON.parse(text.replace(/^\uFEFF/, ''));
  } catch (cause) {
    throw new JobError(
      'RequestInvalid',
      `Can't read job file ${path}: it is not valid JSON (${messageOf(cause)}).`,
      'Correct the file.',
      { cause },
    );
  }
}

// The parts of backfills that notebooks and the command line use. They are a separate bundle that is loaded lazily,
// because it contains the engine, a compiler and a bundler. Types are imported from the files that declare them.
export { readFunction } from '#jobs/definition/functionSource.ts';
export { functionHash } from '#jobs/definition/hash.ts';
export { storedFunction } from '#jobs/definition/registration.ts';

export { openStoreFiles } from '#jobs/local/checkpoints/bucketStore.ts';
export { withCatalog } from './openCatalog.ts';
export { serverJobs } from '#jobs/service/serverJobs.ts';
export { withConsent } from '#jobs/service/consent.ts';
export { launchProblem, rayProfile } from '#jobs/service/launchChecks.ts';
export { openJobs } from '#jobs/service/openJobs.ts';
