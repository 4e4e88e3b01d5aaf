import type { Duplex } from 'node:stream';
import { readFunction } from '#jobs/definition/functionSource.ts';
import { computedColumns, registerFunction } from '#jobs/definition/registration.ts';
import { acceptFunction, isAccepted } from '#jobs/definition/trust.ts';
import { withTable } from '#jobs/openCatalog.ts';
import type { Jobs } from '#jobs/service/jobs.ts';
import type { JobsHostMethods, JobsMethods } from '#shared/jobs/jobMessages.ts';
import { sampleRows } from '#shared/jobs/jobPlan.ts';
import { jobsChecks } from '#shared/jobs/jobShapes.ts';
import { encodeFrame, readFrames } from '#shared/protocol/frames.ts';
import { checkedHandlers, Endpoint, type Handlers } from '#shared/protocol/rpc.ts';

type Definition = 'readFunction' | 'register' | 'computedColumns' | 'accept' | 'isAccepted';

const definitionHandlers: Pick<Handlers<JobsMethods>, Definition> = {
  readFunction: ({ table, column, source }, signal) =>
    // The folder is not used, because the editor sends absolute paths.
    withTable(table, signal, (opened) =>
      readFunction(source, { folder: process.cwd(), table: opened, column }, signal),
    ),
  register: async ({ table, column, function: fn }, signal) => {
    // The function counts as accepted, because the user who registers a function has seen it.
    acceptFunction(fn.hash, { name: fn.name, table: table.name });
    await withTable(table, signal, (opened) => registerFunction(opened, column, fn, { signal }));
    return null;
  },
  computedColumns: ({ table }, signal) => withTable(table, signal, (opened) => computedColumns(opened, signal)),
  accept: ({ hash }) => (acceptFunction(hash), null),
  isAccepted: ({ hash }) => isAccepted(hash),
};

/**
 * Serves the requests of one editor.
 * @param pipe connection to the editor; the caller handles its close
 * @param end called when the data from the editor can no longer be parsed
 */
export function serveJobs(pipe: Duplex, jobs: Jobs, end: () => void): void {
  const gone = new AbortController();
  pipe.once('close', () => gone.abort());
  const tell = (params: JobsHostMethods['jobsChanged'][0]): void => {
    // The request fails only when the pipe closes, and the caller handles that.
    editor.request('jobsChanged', params).catch(() => {});
  };
  let isWatching = false;
  const watch = (): void => {
    // A second `watch` changes nothing; a window may send it twice.
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
    sample: (request, signal) => jobs.try(request, signal, sampleRows),
    start: (request, signal) => jobs.start(request, signal),
    list: (_, signal) => jobs.list(signal),
    log: ({ id, from }, signal) => jobs.log(id, from, signal),
    cancel: async ({ id }, signal) => (await jobs.cancel(id, signal), null),
    resume: ({ id, request, runner }, signal) => jobs.resume(id, { request, runner }, signal),
    remove: async ({ id }, signal) => (await jobs.remove(id, signal), null),
    watch: () => (watch(), null),
  };
}
