import { setTimeout as pause } from 'node:timers/promises';
import { ClusterError, isClusterError } from '#cluster/errors.ts';
import type { KubeConnection } from '#cluster/kube/kubeConnection.ts';
import { waitForChange } from '#cluster/kube/waitForChange.ts';
import { RayJobs } from '#cluster/ray/rayJobs.ts';
import type { RayTarget } from '#cluster/ray/rayRequest.ts';
import { messageOf } from '#shared/errors.ts';
import { pluralize } from '#shared/format/markup.ts';
import { isPermanent } from './headForward.ts';
import { rayClusterPath, readRayClusterState, type RayClusterName, type RayClusterState } from './rayClusterState.ts';
import type { RayPod } from './rayPods.ts';

export type RayProgress = {
  readonly phase: 'verify' | 'create' | 'pods' | 'dashboard' | 'ready';
  /** For display: what is awaited, and the reported reason why it is missing. */
  readonly sentence: string;
  readonly pods: readonly RayPod[];
};

/** Milliseconds that a phase may take. */
export type WaitLimits = {
  /** The time until the minimum number of pods is ready, including time to create nodes and pull images. */
  readonly pods: number;
  /** The time until Ray responds on the head. */
  readonly dashboard: number;
};
export const waitLimits: WaitLimits = { pods: 15 * 60_000, dashboard: 3 * 60_000 };

type WaitOptions = {
  readonly signal: AbortSignal;
  readonly limit: number;
  readonly onProgress: (progress: RayProgress) => void;
};

/**
 * Waits until the pods of a RayCluster are ready, and reports why they are not.
 * @throws ClusterError Timeout with the last reason, NotFound if it was deleted
 */
export async function waitForPods(
  connection: KubeConnection,
  name: RayClusterName,
  { signal, limit, onProgress }: WaitOptions,
): Promise<void> {
  const title = `${name.namespace}/${name.name}`;
  let last = `${title} has no pods yet.`;
  const late = AbortSignal.timeout(limit);
  const own = AbortSignal.any([signal, late]);
  try {
    for (;;) {
      const state = await readRayClusterState(connection, name, own);
      if (state === undefined)
        throw new ClusterError('NotFound', `RayCluster "${title}" was deleted while it started.`, 'Create it again.');
      const isReady = state.isProvisioned && state.pods.some(({ isHead, state: is }) => isHead && is === 'ready');
      last = sentenceOf(name, state);
      onProgress({ phase: 'pods', sentence: last, pods: state.pods });
      if (isReady) return;
      await waitForChange(connection, rayClusterPath(name), state.object, own);
    }
  } catch (error) {
    if (signal.aborted || !late.aborted) throw error;
    throw new ClusterError(
      'Timeout',
      `RayCluster "${title}" was not ready after ${minutes(limit)}. ${last}`,
      'Fix the cause, or wait longer.',
      { cause: error },
    );
  }
}

/** `geneva/x: 1 of 3 pods ready. The head is pending: 0/3 nodes are available: …` */
function sentenceOf(name: RayClusterName, { pods, problem, isProvisioned }: RayClusterState): string {
  const title = `${name.namespace}/${name.name}`;
  if (pods.length === 0) return `${title} has no pods yet${problem === undefined ? '.' : `: ${problem}`}`;
  const ready = pods.filter(({ state }) => state === 'ready').length;
  if (isProvisioned && ready === pods.length) return `${title}: ${pluralize(ready, 'pod')} ready.`;
  const held = pods.filter(({ state }) => state !== 'ready' && state !== 'ending');
  const first = held.find(({ isHead }) => isHead) ?? held.find(({ reason }) => reason !== undefined) ?? held[0];
  const words = first === undefined ? (problem ?? '') : wordsOf(first);
  return `${title}: ${ready} of ${pluralize(pods.length, 'pod')} ready.${words === '' ? '' : ` ${words}`}`;
}

const wordsOf = ({ name, isHead, group, state, reason }: RayPod): string =>
  `${isHead ? 'The head' : `${name} of the workers "${group ?? ''}"`} is ${state}${reason === undefined ? '.' : `: ${reason}`}`;

/**
 * Waits until Ray responds on the head.
 * @returns its version
 * @throws ClusterError Timeout with the last failure, CredentialsRefused if it needs another token
 */
export async function waitForRay(
  target: RayTarget,
  {
    signal,
    limit,
    title,
    problem,
  }: Pick<WaitOptions, 'signal' | 'limit'> & {
    readonly title: string;
    /** The last problem of the connection to the head. */
    readonly problem: () => ClusterError | undefined;
  },
): Promise<string> {
  const late = AbortSignal.timeout(limit);
  const own = AbortSignal.any([signal, late]);
  let last: unknown;
  for (let wait = 200; ; wait = Math.min(wait * 2, 2_000)) {
    try {
      return await askVersion(target, own);
    } catch (error) {
      if (signal.aborted) throw error;
      if (isPermanent(error)) throw error;
      const inTheWay = problem();
      if (inTheWay && isPermanent(inTheWay)) throw inTheWay;
      // The error of the time limit itself is not kept, because it does not say what is wrong.
      if (!late.aborted) last = error;
    }
    if (late.aborted)
      throw new ClusterError(
        'Timeout',
        `Ray on RayCluster "${title}" did not respond within ${minutes(limit)}: ${reasonOf(problem() ?? last)}`,
        'Check the log of the head pod.',
        { cause: last },
      );
    await pause(wait, undefined, { signal: own }).catch(() => {});
    signal.throwIfAborted();
  }
}

async function askVersion(target: RayTarget, signal: AbortSignal): Promise<string> {
  const jobs = new RayJobs(target);
  try {
    return (await jobs.version(signal)).version;
  } finally {
    await jobs.close();
  }
}

const reasonOf = (error: unknown): string =>
  error === undefined ? 'there was no reply.' : isClusterError(error) ? error.what : messageOf(error);

const minutes = (milliseconds: number): string =>
  milliseconds < 60_000 ? `${Math.round(milliseconds / 1000)} s` : `${Math.round(milliseconds / 60_000)} min`;
