import { fieldAt, listAt, mapAt, numberAt, stringAt } from '#shared/fields.ts';
import { isRecord } from '#shared/records.ts';

// Replies of Ray, parsed into plain data.

const rayJobStates = ['PENDING', 'RUNNING', 'STOPPED', 'SUCCEEDED', 'FAILED'] as const;
type RayJobState = (typeof rayJobStates)[number];

/** A submitted job, as reported by Ray. */
export type RayJob = {
  readonly submissionId: string;
  readonly state: RayJobState;
  readonly entrypoint: string;
  /** Why it is in this state; for a failed job, with the end of its log. */
  readonly message: string;
  /** The kind of failure, such as `JOB_ENTRYPOINT_COMMAND_ERROR`. */
  readonly errorType: string | undefined;
  readonly driverExitCode: number | undefined;
  /** Process id of the driver on its node. */
  readonly driverPid: number | undefined;
  /** Ray's id of the driver's node. */
  readonly driverNode: string | undefined;
  /** Milliseconds since 1970. */
  readonly startedAt: number | undefined;
  readonly endedAt: number | undefined;
  readonly metadata: Readonly<Record<string, string>>;
};

/** Returns whether a job in this state has ended. */
export const isFinished = (state: RayJobState): boolean => state !== 'PENDING' && state !== 'RUNNING';

/** @returns `undefined` if the body is not a job */
export function readRayJob(body: unknown): RayJob | undefined {
  const submissionId = stringAt(body, 'submission_id');
  const state = rayJobStates.find((one) => one === stringAt(body, 'status'));
  if (submissionId === undefined || state === undefined) return undefined;
  const pid = Number(stringAt(body, 'driver_info', 'pid'));
  return {
    submissionId,
    state,
    entrypoint: stringAt(body, 'entrypoint') ?? '',
    message: stringAt(body, 'message') ?? '',
    errorType: stringAt(body, 'error_type'),
    driverExitCode: numberAt(body, 'driver_exit_code'),
    driverPid: Number.isInteger(pid) && pid > 0 ? pid : undefined,
    driverNode: stringAt(body, 'driver_node_id'),
    startedAt: numberAt(body, 'start_time'),
    endedAt: numberAt(body, 'end_time'),
    metadata: mapAt(body, 'metadata'),
  };
}

/** The resources of a cluster, and the requests that wait for some. */
export type RayCapacity = {
  /** Resources by name (`CPU`, `GPU`, `memory` in bytes). */
  readonly resources: Readonly<Record<string, { readonly used: number; readonly total: number }>>;
  /** Waiting requests: the resources of each, and the number of such requests. */
  readonly demands: readonly { readonly resources: Readonly<Record<string, number>>; readonly count: number }[];
};

/** @returns `undefined` if the body does not describe a cluster */
export function readRayRoom(body: unknown): RayCapacity | undefined {
  const report = fieldAt(body, 'data', 'clusterStatus', 'loadMetricsReport');
  if (!isRecord(report)) return undefined;
  const usage = isRecord(report['usage']) ? Object.entries(report['usage']) : [];
  const resources = usage.flatMap(([name, pair]) => {
    const [used, total] = Array.isArray(pair) ? (pair as unknown[]) : [];
    return typeof used === 'number' && typeof total === 'number' ? [[name, { used, total }] as const] : [];
  });
  const demands = listAt(report, 'resourceDemand').flatMap((entry) => {
    const [wanted, count] = Array.isArray(entry) ? (entry as unknown[]) : [];
    return isRecord(wanted) && typeof count === 'number' ? [{ resources: numbersOf(wanted), count }] : [];
  });
  return { resources: Object.fromEntries(resources), demands };
}

const numbersOf = (value: Record<string, unknown>): Record<string, number> =>
  Object.fromEntries(Object.entries(value).filter((entry): entry is [string, number] => typeof entry[1] === 'number'));
