import type { Duplex } from 'node:stream';
import { readFunction } from '#jobs/definition/functionSource.ts';
import { computedColumns, registerFunction } from '#jobs/definition/registration.ts';
import { accept, isAccepted } from '#jobs/definition/trust.ts';
import { onTable } from '#jobs/openCatalog.ts';
import type { Jobs } from '#jobs/service/jobs.ts';
import type { RunnerName } from '#shared/jobs/backfill.ts';
import type { JobsHostMethods, JobsMethods } from '#shared/jobs/jobMessages.ts';
import { jobsChecks } from '#shared/jobs/jobShapes.ts';
import { encodeFrame, readFrames } from '#shared/protocol/frames.ts';
import { checkedHandlers, Endpoint, type Handlers } from '#shared/protocol/rpc.ts';

type Definition = 'readFunction' | 'register' | 'computedColumns' | 'accept' | 'isAccepted';

/** What an editor asks about computed columns. */
const definitionHandlers: Pick<Handlers<JobsMethods>, Definition> = {
  readFunction: ({ table, column, source }, signal) =>
    // The editor names files by absolute paths.
    onTable(table, signal, (opened) => readFunction(source, { folder: process.cwd(), table: opened, column }, signal)),
  register: async ({ table, column, function: fn }, signal) => {
    // Whoever registers a function here has it from here, and need not be asked about it.
    accept(fn.hash, { name: fn.name, table: table.name });
    await onTable(table, signal, (opened) => registerFunction(opened, column, fn, { signal }));
    return null;
  },
  computedColumns: ({ table }, signal) => onTable(table, signal, (opened) => computedColumns(opened, signal)),
  accept: ({ hash }) => (accept(hash), null),
  isAccepted: ({ hash }) => isAccepted(hash),
};

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
