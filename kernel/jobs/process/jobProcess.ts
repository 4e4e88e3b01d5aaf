import { buffer } from 'node:stream/consumers';
import { failureOf } from '#jobs/jobFailure.ts';
import { JobFolders } from '#jobs/records/jobFolder.ts';
import type { JobRecord } from '#jobs/records/jobRecord.ts';
import { readyLine } from '#jobs/records/heartbeat.ts';
import { secretsOf } from '#jobs/records/withoutSecrets.ts';
import type { LoadRunner } from '#jobs/runners/all.ts';
import { specOf } from '#jobs/jobSpec.ts';
import type { BackfillRequest } from '#shared/jobs/backfill.ts';
import { isAbort, isCatalogError } from '#shared/errors.ts';
import { isJobError } from '#shared/jobs/jobErrors.ts';
import { isBackfillRequest } from '#shared/jobs/jobShapes.ts';
import { openControlServer } from './controlServer.ts';
import { openRecorder, type Recorder } from './recorder.ts';

/** Arguments of `job.cjs JOBS-FOLDER ID`. The request, including its secrets, arrives on stdin. */
type JobStart = { readonly root: string; readonly id: string; readonly loadRunner: LoadRunner };

/**
 * Runs one job to its end in this process, which exits afterwards.
 * @returns the exit code: 0 if the end of the job was recorded, even a failure; 2 if the job or its request is
 * missing
 */
export async function runJob({ root, id, loadRunner }: JobStart): Promise<number> {
  const folders = new JobFolders(root);
  const record = folders.read(id);
  const request = parseRequest(await buffer(process.stdin));
  if (!record || !request) {
    process.stderr.write(record ? 'No request came on standard input.\n' : `There is no job ${id} in ${root}.\n`);
    return 2;
  }
  const recorder = openRecorder(folders, record, secretsOf(request));
  const cancelled = new AbortController();
  const server = await openControlServer(folders.of(id), () => cancelled.abort());
  const close = (): void => {
    recorder.close();
    server.close();
  };
  endInOrder(recorder, cancelled.signal, close);
  // Errors of stdout are ignored, because the process that started this one may have ended already.
  process.stdout.on('error', () => {});
  process.stdout.write(readyLine);
  recorder.say(`Run ${record.run} with the runner "${record.runner}" in process ${process.pid}.`);
  try {
    await run({ folders, record, request, recorder, loadRunner, signal: cancelled.signal });
  } finally {
    close();
  }
  return 0;
}

type Run = {
  readonly folders: JobFolders;
  readonly record: JobRecord;
  readonly request: BackfillRequest;
  readonly recorder: Recorder;
  readonly loadRunner: LoadRunner;
  readonly signal: AbortSignal;
};

async function run({ folders, record, request, recorder, loadRunner, signal }: Run): Promise<void> {
  try {
    const runner = await loadRunner(record.runner);
    const spec = await specOf(record.id, request, signal);
    await runner.run({
      spec,
      request,
      emit: recorder.event,
      log: recorder.log,
      folder: folders.of(record.id),
      kept: { get: recorder.kept, set: recorder.keep },
      signal,
    });
    if (recorder.hasEnded()) return;
    // If the runner reported no end, the job must not count as finished, so it counts as failed.
    const message = `The runner "${record.runner}" ended without a result.`;
    recorder.event({ kind: 'failed', code: 'Internal', message, hint: 'Check the log of the job, then resume it.' });
  } catch (error) {
    if (!isPlanned(error)) recorder.log(`${stackOf(error)}\n`);
    // After a cancellation, any error is a consequence of the cancellation.
    recorder.event(signal.aborted ? { kind: 'cancelled' } : { kind: 'failed', ...failureOf(error) });
  }
}

/** Records the end of this process, also after a crash or a signal. */
function endInOrder(recorder: Recorder, cancelled: AbortSignal, close: () => void): void {
  process.on('uncaughtException', (error) => {
    recorder.log(`${error.stack ?? error.message}\n`);
    recorder.event({ kind: 'failed', ...failureOf(error) });
    close();
    process.exit(1);
  });
  // The signal is ignored, because a terminal that closes must not end the job.
  process.on('SIGHUP', () => {});
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.on(signal, () => {
      // Child processes end when their pipes close, and store their results.
      if (cancelled.aborted) recorder.event({ kind: 'cancelled' });
      else recorder.interrupt('The system ended the job process, for example at shutdown. Resume the job to continue.');
      close();
      process.exit(0);
    });
  }
}

/** Whether the message of an error is enough for the log. The stack trace helps only for unexpected errors. */
const isPlanned = (error: unknown): boolean => isJobError(error) || isCatalogError(error) || isAbort(error);

const stackOf = (error: unknown): string => (error instanceof Error ? (error.stack ?? error.message) : String(error));

function parseRequest(input: Buffer): BackfillRequest | undefined {
  try {
    const request: unknown = JSON.parse(input.toString('utf8'));
    return isBackfillRequest(request) ? request : undefined;
  } catch {
    return undefined;
  }
}
