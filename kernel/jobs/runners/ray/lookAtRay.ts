import { readFile } from 'node:fs/promises';
import type { RayJobs, RayVersion } from '#cluster/ray/rayJobs.ts';
import { pythonDependencies } from '#jobs/definition/pythonDependencies.ts';
import { driverFile } from '#jobs/driver/driverFiles.ts';
import type { JobSpec } from '#jobs/jobSpec.ts';
import { fitnessOf, isFine, type Fitness } from './rayFitness.ts';
import { probeRay } from './rayProbe.ts';

/** Where the driver finds what must not be written down: of all that Ray is given, this alone is no file of the package. */
const secretsVariable = 'LANCE_CATALOG_STORAGE_OPTIONS';

/** The environment of a job on Ray, which everybody sees who may see the job. */
export const environmentOf = ({ table: { storageOptions } }: JobSpec): Readonly<Record<string, string>> =>
  Object.keys(storageOptions).length > 0 ? { [secretsVariable]: JSON.stringify(storageOptions) } : {};

export type Look = {
  readonly spec: JobSpec;
  readonly version: RayVersion;
  /** Told before a job that looks is sent; what was found once is not looked for again. */
  readonly onLook: () => void;
};

/**
 * Looks whether a Ray has what a job needs there, and reaches its table.
 * @throws JobError that says what is missing and cannot be installed, and what to do; ClusterError
 */
export async function lookAtRay(jobs: RayJobs, { spec, version, onLook }: Look, signal: AbortSignal): Promise<Fitness> {
  const wanted = {
    kind: spec.function.kind,
    dependencies: spec.function.kind === 'python' ? pythonDependencies(spec.function.code) : [],
  };
  const probed = await probeRay(
    jobs,
    {
      version,
      tableUri: spec.table.uri,
      envVars: environmentOf(spec),
      code: await readFile(driverFile('rayProbe.py'), 'utf8'),
      functionCode: spec.function.kind === 'python' ? spec.function.code : undefined,
      isFine: (found) => isFine(found, wanted),
      onLook,
    },
    signal,
  );
  return fitnessOf(jobs.subject, probed, wanted, spec.table.uri);
}
