import type { Duplex } from 'node:stream';
import type { Jobs } from '#jobs/service/jobs.ts';
import { checkedHandlers } from '#shared/checkedHandlers.ts';
import { encodeFrame, readFrames } from '#shared/frames.ts';
import type { RunnerName } from '#shared/jobs/backfill.ts';
import { jobsChecks } from '#shared/jobs/jobChecks.ts';
import type { JobsHostMethods, JobsMethods } from '#shared/jobs/jobMessages.ts';
import { Endpoint, type Handlers } from '#shared/rpc.ts';
import { definitionHandlers } from './definitionHandlers.ts';

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
    checkedHandlers(handlersOf(jobs, watch), jobsChecks, 'the jobs process'),
  );
  readFrames(pipe, (message) => void editor.receive(message), end);
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
