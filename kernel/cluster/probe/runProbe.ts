import { setTimeout as pause } from 'node:timers/promises';
import { isClusterError } from '#cluster/errors.ts';
import { listAt, stringAt } from '#shared/fields.ts';
import type { KubeReads } from '#cluster/kube/kubeReads.ts';
import { waitForChange } from '#cluster/kube/waitForChange.ts';
import type { CleanupAction, CleanupList } from '#cluster/cleanupList.ts';
import type { KubernetesManifest } from '#cluster/fixes/fix.ts';
import { probeLabels } from './probePod.ts';

type ProbeOutcome =
  /** The pod ran to its end; `log` is its output. */
  | { readonly ran: true; readonly succeeded: boolean; readonly log: string }
  /** The pod never ran, or was killed; `why` is the reason that the cluster reports. */
  | { readonly ran: false; readonly why: string };

/** Milliseconds for a pod to finish, including the wait for a node and for its image. */
const patience = 90_000;
const interval = 500;

/**
 * Milliseconds to create the pod. The creation is not canceled with the run, because its result decides whether there
 * is a pod to remove.
 */
const creating = 15_000;

/** If a container waits for one of these reasons, it will not start within a minute. */
const hopeless: ReadonlySet<string> = new Set([
  'ErrImagePull',
  'ImagePullBackOff',
  'InvalidImageName',
  'CreateContainerConfigError',
  'CreateContainerError',
]);

type ProbeRun = {
  readonly kube: KubeReads;
  readonly leftovers: CleanupList;
  readonly pod: KubernetesManifest;
  /** The object that the pod may leave in the bucket; forgotten if there never was a pod. */
  readonly writes: CleanupAction;
  readonly signal: AbortSignal;
};

/**
 * Starts a pod, waits for its end, reads its output and removes it in every case.
 * @throws ClusterError if the pod could not be created or read
 */
export async function runProbe({ kube, leftovers, pod, writes, signal }: ProbeRun): Promise<ProbeOutcome> {
  const path = podPath(pod);
  signal.throwIfAborted();
  const list = path.slice(0, path.lastIndexOf('/'));
  await removeEnded(kube, list, signal);
  let made: Promise<unknown> = Promise.resolve();
  const leftover = leftovers.add(`The pod ${pod.metadata.namespace}/${pod.metadata.name}`, async (own) => {
    // Waits for the creation, because a pod that is still being created would appear after its removal.
    await made.catch(() => undefined);
    await removePod(kube, path, own);
  });
  made = kube.request({ method: 'POST', path: list, body: pod }, AbortSignal.timeout(creating));
  try {
    await made.catch((error: unknown) => {
      // If the server refused the request, there is no pod. After a lost connection there may be one.
      if (isClusterError(error) && !error.isTransient && error.kind !== 'Aborted')
        for (const one of [leftover, writes]) one.forget();
      throw error;
    });
    return await waitForEnd(kube, path, signal);
  } finally {
    // An error is ignored, because the end of the run tries again and reports it.
    if (!leftover.isGone) await leftover.remove().catch(() => undefined);
  }
}

async function waitForEnd(kube: KubeReads, path: string, signal: AbortSignal): Promise<ProbeOutcome> {
  const end = performance.now() + patience;
  for (;;) {
    const { body } = await kube.request({ method: 'GET', path }, signal);
    const phase = stringAt(body, 'status', 'phase');
    if (phase === 'Succeeded' || phase === 'Failed') return readEnd(kube, path, body, phase, signal);
    const why = whyWaiting(body);
    if (why?.isHopeless || performance.now() > end)
      return { ran: false, why: why?.text ?? `its phase is still ${phase ?? 'unknown'} after ${patience / 1000} s` };
    await waitForChange(await kube.connection(), path, body, signal);
  }
}

/** Reads how a pod ended. If the cluster ended the pod before it ran, there is no output. */
async function readEnd(
  kube: KubeReads,
  path: string,
  pod: unknown,
  phase: string,
  signal: AbortSignal,
): Promise<ProbeOutcome> {
  const reason = stringAt(pod, 'status', 'reason');
  const log = await readLog(kube, path, signal);
  if (log === undefined || (reason !== undefined && !log.includes('probe')))
    return { ran: false, why: stringAt(pod, 'status', 'message') ?? reason ?? 'it printed nothing' };
  return { ran: true, succeeded: phase === 'Succeeded', log };
}

async function readLog(kube: KubeReads, path: string, signal: AbortSignal): Promise<string | undefined> {
  try {
    const { body } = await kube.request({ method: 'GET', path: `${path}/log?limitBytes=16384` }, signal);
    return typeof body === 'string' ? body : undefined;
  } catch (error) {
    // A container that never ran has no log.
    if (isClusterError(error) && error.kind === 'InvalidRequest') return undefined;
    throw error;
  }
}

type Waiting = { readonly text: string; readonly isHopeless: boolean };

/** Returns why a pod does not run yet, from its node or the scheduler. */
function whyWaiting(pod: unknown): Waiting | undefined {
  for (const status of listAt(pod, 'status', 'containerStatuses')) {
    const reason = stringAt(status, 'state', 'waiting', 'reason');
    if (reason === undefined) continue;
    const message = stringAt(status, 'state', 'waiting', 'message');
    return { text: message === undefined ? reason : `${reason}: ${message}`, isHopeless: hopeless.has(reason) };
  }
  const unscheduled = listAt(pod, 'status', 'conditions').find(
    (condition) => stringAt(condition, 'type') === 'PodScheduled' && stringAt(condition, 'status') === 'False',
  );
  const message = stringAt(unscheduled, 'message') ?? stringAt(unscheduled, 'reason');
  // The pod may still run, because a pool may add a node when a pod waits.
  return message === undefined ? undefined : { text: message, isHopeless: false };
}

/**
 * Removes ended pods of earlier probes. If a process is killed, its pod stays, and the cluster ends the pod at its
 * deadline. Does nothing if the user may not list pods.
 */
async function removeEnded(kube: KubeReads, list: string, signal: AbortSignal): Promise<void> {
  const selector = Object.entries(probeLabels).map(([label, value]) => `${label}=${value}`);
  const path = `${list}?labelSelector=${encodeURIComponent(selector.join(','))}`;
  const found = await kube.request({ method: 'GET', path }, signal).catch(() => undefined);
  for (const pod of listAt(found?.body, 'items')) {
    const name = stringAt(pod, 'metadata', 'name');
    const phase = stringAt(pod, 'status', 'phase');
    if (name !== undefined && (phase === 'Succeeded' || phase === 'Failed'))
      await kube
        .request({ method: 'DELETE', path: `${list}/${encodeURIComponent(name)}` }, signal)
        .catch(() => undefined);
  }
}

/**
 * Removes a pod and waits until it no longer exists. On termination the pod needs some seconds to remove its object
 * from the bucket.
 */
async function removePod(kube: KubeReads, path: string, signal: AbortSignal): Promise<void> {
  try {
    await kube.request({ method: 'DELETE', path }, signal);
    for (;;) {
      await kube.request({ method: 'GET', path }, signal);
      await pause(interval, undefined, { signal });
    }
  } catch (error) {
    if (!isClusterError(error) || error.kind !== 'NotFound') throw error;
  }
}

const podPath = ({ metadata }: KubernetesManifest): string =>
  `/api/v1/namespaces/${encodeURIComponent(metadata.namespace ?? '')}/pods/${encodeURIComponent(metadata.name)}`;
