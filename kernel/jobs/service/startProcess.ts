import { closeSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { startNode, type NodeRuntime } from '#processes/childProcess.ts';
import { exitReason, lastErrorLine } from '#processes/exitReason.ts';
import { exitMessageFile, type JobFolders } from '#jobs/records/jobFolder.ts';
import { readyLine } from '#jobs/records/heartbeat.ts';
import type { BackfillRequest } from '#shared/jobs/backfill.ts';
import { JobError } from '#shared/jobs/jobErrors.ts';

/** Time limit for a start. Usually a process starts in a second; a cold disk or a busy machine can delay it. */
const startMs = 45_000;

type ProcessStart = {
  readonly folders: JobFolders;
  readonly id: string;
  readonly request: BackfillRequest;
  /** Path of `dist/job.cjs`. */
  readonly entry: string;
  readonly node: NodeRuntime;
};

/**
 * Starts the process of a job and waits until it has taken over the job. From then on the process is independent of
 * this one: it has its own session, and it writes stderr to a file. It has received its secrets by a pipe that is now
 * closed.
 * @throws JobError Internal with the error output of the process, if it ends or does not take over the job in time
 */
export async function startProcess({ folders, id, request, entry, node }: ProcessStart): Promise<void> {
  const folder = folders.of(id);
  const words = openSync(join(folder, exitMessageFile), 'w', 0o600);
  const child = startNode({
    node,
    entry,
    args: [folders.root, id],
    cwd: folder,
    detached: true,
    stdio: ['pipe', 'pipe', words],
  });
  closeSync(words);
  const [stdin, stdout] = [child.stdin as Writable, child.stdout as Readable];
  // An error of stdin is ignored, because the exit of the process explains why it did not read everything.
  stdin.on('error', () => {});
  stdin.end(JSON.stringify(request));
  let timer: NodeJS.Timeout | undefined;
  try {
    await new Promise<void>((resolve, reject) => {
      const fail = (reason: string): void => reject(notStarted(reason));
      child.once('error', (error) => fail(error.message));
      child.once('exit', (code, killed) => fail(exitReason(code, killed, startupFailure(folders, id))));
      stdout.once('data', (chunk: Buffer) => {
        if (chunk.toString() === readyLine) resolve();
      });
      timer = setTimeout(() => {
        child.kill('SIGKILL');
        fail(`it did not report that it is ready within ${startMs / 1000} s`);
      }, startMs);
    });
  } finally {
    clearTimeout(timer);
    stdout.destroy();
    child.unref();
  }
}

/** Returns the last error output of a job process, or an empty string. */
export function startupFailure(folders: JobFolders, id: string): string {
  try {
    return lastErrorLine(readFileSync(join(folders.of(id), exitMessageFile), 'utf8').slice(-10_000));
  } catch {
    return '';
  }
}

const notStarted = (reason: string): JobError =>
  new JobError('Internal', `The process of the job did not start: ${reason}.`, 'Try again.');
