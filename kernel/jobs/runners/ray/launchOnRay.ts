import { readFile } from 'node:fs/promises';
import type { RayJobs, RayVersion } from '#cluster/ray/rayJobs.ts';
import { rayPackage } from '#cluster/ray/rayPackage.ts';
import { driverFile } from '#jobs/driver/driverFiles.ts';
import { type JobSpec, specWithoutSecrets } from '#jobs/jobSpec.ts';
import type { RunContext } from '#jobs/runners/runner.ts';
import { bundleFile } from '#processes/bundleFile.ts';
import { environmentOf, inspectRay } from './rayFitness.ts';

/**
 * Submits a job after checking that it can run on this Ray cluster. If the same id is submitted twice, the job starts
 * once.
 * @throws JobError if Ray lacks something that the job needs, ClusterError
 */
export async function launchOnRay(
  jobs: RayJobs,
  { context, submissionId, version }: Launch,
  signal: AbortSignal,
): Promise<void> {
  const { emit, request } = context;
  const spec = await withRayConcurrency(jobs, context, signal);
  const waitingFor = `a check of ${jobs.subject}, once per table`;
  const onLook = (): void => emit({ kind: 'workers', ready: 0, wanted: spec.concurrency, waitingFor });
  const { pip, notices } = await inspectRay(jobs, { spec, version, onLook }, signal);
  for (const text of notices) emit({ kind: 'notice', text });
  const workingDir = await jobs.upload(rayPackage(await filesOf(spec)), signal);
  await jobs.submit(
    {
      submissionId,
      entrypoint: 'python3 backfill.py spec.json',
      runtime: { workingDir, envVars: environmentOf(spec), pip },
      // Shown in the Ray dashboard only.
      metadata: { 'lance-catalog': 'backfill', table: request.table.name, column: spec.column },
    },
    signal,
  );
}

type Launch = {
  readonly context: RunContext;
  readonly submissionId: string;
  readonly version: RayVersion;
};

/** Sets the default concurrency to the number of Ray's processors. */
async function withRayConcurrency(jobs: RayJobs, { spec, request }: RunContext, signal: AbortSignal): Promise<JobSpec> {
  if (request.concurrency !== undefined) return spec;
  const processors = Math.floor((await jobs.room(signal))?.resources['CPU']?.total ?? 0);
  // An idle autoscaling cluster has no processors. Then the concurrency determines how many it adds.
  return processors < 1 ? spec : { ...spec, concurrency: Math.min(processors, mostWorkers) };
}

/** Maximum default number of workers, because workers share reading and committing. Users can request more. */
const mostWorkers = 64;

async function filesOf(spec: JobSpec): Promise<Record<string, Uint8Array | string>> {
  const hasWorker = spec.function.kind === 'typescript';
  const job = {
    ...specWithoutSecrets(spec),
    mode: 'run',
    engine: 'ray',
    node: null,
    worker: hasWorker ? 'functionWorker.mjs' : null,
    function_file: null,
  };
  return {
    'backfill.py': await readFile(driverFile()),
    'spec.json': JSON.stringify(job),
    ...(hasWorker && { 'functionWorker.mjs': await readFile(bundleFile('functionWorker.mjs')) }),
  };
}
