import type { Duplex } from 'node:stream';
import type { Jobs } from '#jobs/service/jobs.ts';
import { encodeFrame, frameDecoder } from '#shared/frames.ts';
import type { RunnerName } from '#shared/jobs/backfill.ts';
import { jobsChecks } from '#shared/jobs/jobChecks.ts';
import type { JobsHostMethods, JobsMethods } from '#shared/jobs/jobMessages.ts';
import { definitionHandlers } from './definitionHandlers.ts';
import { Endpoint, type Handlers } from '#shared/rpc.ts';

/**
 * Answers one editor.
 * @param pipe of which the caller sees the end
 * @param end called when nothing that the editor sends can be read any more
 */
export function serveJobs(pipe: Duplex, jobs: Jobs, end: () => void): void {
  const gone = new AbortController();
  pipe.once('close', () => gone.abort());
  const tell = (params: JobsHostMethods['jobsChanged'][0]): void => {
    // Fails with the pipe, whose end the caller sees.
    editor.request('jobsChanged', params).catch(() => {});
  };
  let isWatching = false;
  const watch = (): void => {
    // A window that asks twice is told once.
    if (isWatching) return;
    isWatching = true;
    void jobs.watch((changed, removed) => tell({ changed, removed }), gone.signal);
  };
  const editor = new Endpoint<JobsMethods, JobsHostMethods>(
    (frame) => void pipe.write(encodeFrame(frame)),
    checked(handlersOf(jobs, watch)),
  );
  const decode = frameDecoder((message) => void editor.receive(message));
  pipe.on('data', (chunk: Uint8Array) => {
    try {
      decode(chunk);
    } catch {
      end();
    }
  });
  editor.request('ready', null).catch(() => {});
}

function handlersOf(jobs: Jobs, watch: () => void): Handlers<JobsMethods> {
  return {
    ...definitionHandlers,
    plan: (request, signal) => jobs.plan(request, signal),
    try: (request, signal) => jobs.try(request, signal),
    start: (request, signal) => jobs.start(request, signal),
    list: (_, signal) => jobs.list(signal),
    log: ({ id, from }, signal) => jobs.log(id, from, signal),
    cancel: async ({ id }, signal) => (await jobs.cancel(id, signal), null),
    resume: ({ id, request, runner }, signal) =>
      jobs.resume(id, { request, runner: runner as RunnerName | undefined }, signal),
    remove: async ({ id }, signal) => (await jobs.remove(id, signal), null),
    watch: () => (watch(), null),
  };
}

/** The handlers, each behind what is checked of its request. */
function checked(handlers: Handlers<JobsMethods>): Handlers<JobsMethods> {
  const entries = Object.entries(handlers).map(([method, handler]) => [
    method,
    (params: never, signal: AbortSignal) => {
      if (!jobsChecks[method as keyof JobsMethods](params))
        throw new TypeError(`The request "${method}" has not the shape that the jobs process takes.`);
      return handler(params, signal);
    },
  ]);
  return Object.fromEntries(entries) as Handlers<JobsMethods>;
}
