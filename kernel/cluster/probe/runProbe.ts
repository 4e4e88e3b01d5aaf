import { setTimeout as pause } from 'node:timers/promises';
import { isClusterError } from '#cluster/errors.ts';
import { listAt, textAt } from '#cluster/kube/fields.ts';
import type { KubeReads } from '#cluster/kube/kubeReads.ts';
import { nextChange } from '#cluster/kube/nextChange.ts';
import type { Leftover, Leftovers } from '#cluster/leftovers.ts';
import type { KubernetesManifest } from '#cluster/fixes/fix.ts';
import { probeLabels } from './probePod.ts';

/** How a pod ended. */
type ProbeOutcome =
  /** It ran to its end; with what it printed. */
  | { readonly ran: true; readonly succeeded: boolean; readonly log: string }
  /** It never ran, or was ended: why, in the cluster's words. */
  | { readonly ran: false; readonly why: string };

/** Milliseconds until a pod must have run: it waits for a node and for its image. */
const patience = 90_000;
const interval = 500;

/** Milliseconds for making it: not given up with the run, since what comes of it must be known to be removed. */
const creating = 15_000;

/** Reasons for which a container waits and that do not pass by themselves in a minute. */
const hopeless: ReadonlySet<string> = new Set([
  'ErrImagePull',
  'ImagePullBackOff',
  'InvalidImageName',
  'CreateContainerConfigError',
  'CreateContainerError',
]);

type ProbeRun = {
  readonly kube: KubeReads;
  readonly leftovers: Leftovers;
  readonly pod: KubernetesManifest;
  /** What the pod may leave behind elsewhere; forgotten where there never was a pod. */
  readonly writes: Leftover;
  readonly signal: AbortSignal;
};

/**
 * Starts a pod, waits for its end, reads what it printed and removes it, whatever happens meanwhile.
 * @throws ClusterError where it could not be made or looked at
 */
export async function runProbe({ kube, leftovers, pod, writes, signal }: ProbeRun): Promise<ProbeOutcome> {
  const path = podPath(pod);
  signal.throwIfAborted();
  const list = path.slice(0, path.lastIndexOf('/'));
  await removeEnded(kube, list, signal);
  let made: Promise<unknown> = Promise.resolve();
  const leftover = leftovers.add(`The pod ${pod.metadata.namespace}/${pod.metadata.name}`, async (own) => {
    // One that is still being made would come after its removal.
    await made.catch(() => undefined);
    await removePod(kube, path, own);
  });
  made = kube.request({ method: 'POST', path: list, body: pod }, AbortSignal.timeout(creating));
  try {
    await made.catch((error: unknown) => {
      // A refusal is certain; after a lost connection there may be a pod.
      if (isClusterError(error) && !error.isTransient && error.kind !== 'Aborted')
        for (const one of [leftover, writes]) one.forget();
      throw error;
    });
    return await waitForEnd(kube, path, signal);
  } finally {
    // Where this fails, the end of the run tries again and tells.
    if (!leftover.isGone) await leftover.remove().catch(() => undefined);
  }
}

async function waitForEnd(kube: KubeReads, path: string, signal: AbortSignal): Promise<ProbeOutcome> {
  const end = performance.now() + patience;
  for (;;) {
    const { body } = await kube.request({ method: 'GET', path }, signal);
    const phase = textAt(body, 'status', 'phase');
    if (phase === 'Succeeded' || phase === 'Failed') return readEnd(kube, path, body, phase, signal);
    const why = whyWaiting(body);
    if (why?.isHopeless || performance.now() > end)
      return { ran: false, why: why?.text ?? `its phase is still ${phase ?? 'unknown'} after ${patience / 1000} s` };
    await nextChange(await kube.connection(), path, body, signal);
  }
}

/** A pod that the cluster ended before it ran has nothing to say. */
async function readEnd(
  kube: KubeReads,
  path: string,
  pod: unknown,
  phase: string,
  signal: AbortSignal,
): Promise<ProbeOutcome> {
  const reason = textAt(pod, 'status', 'reason');
  const log = await readLog(kube, path, signal);
  if (log === undefined || (reason !== undefined && !log.includes('probe')))
    return { ran: false, why: textAt(pod, 'status', 'message') ?? reason ?? 'it printed nothing' };
  return { ran: true, succeeded: phase === 'Succeeded', log };
}

async function readLog(kube: KubeReads, path: string, signal: AbortSignal): Promise<string | undefined> {
  try {
    const { body } = await kube.request({ method: 'GET', path: `${path}/log?limitBytes=16384` }, signal);
    return typeof body === 'string' ? body : undefined;
  } catch (error) {
    // A container that never was has no log.
    if (isClusterError(error) && error.kind === 'InvalidRequest') return undefined;
    throw error;
  }
}

type Waiting = { readonly text: string; readonly isHopeless: boolean };

/** Why a pod does not run yet, as its node or the scheduler says. */
function whyWaiting(pod: unknown): Waiting | undefined {
  for (const status of listAt(pod, 'status', 'containerStatuses')) {
    const reason = textAt(status, 'state', 'waiting', 'reason');
    if (reason === undefined) continue;
    const message = textAt(status, 'state', 'waiting', 'message');
    return { text: message === undefined ? reason : `${reason}: ${message}`, isHopeless: hopeless.has(reason) };
  }
  const unscheduled = listAt(pod, 'status', 'conditions').find(
    (condition) => textAt(condition, 'type') === 'PodScheduled' && textAt(condition, 'status') === 'False',
  );
  const message = textAt(unscheduled, 'message') ?? textAt(unscheduled, 'reason');
  // A node may still come: pools grow when a pod waits.
  return message === undefined ? undefined : { text: message, isHopeless: false };
}

/**
 * Removes pods of former probes that have ended: a process that was killed could not remove its own. The cluster has ended them by
 * their deadline. Who may not list pods has nothing removed.
 */
async function removeEnded(kube: KubeReads, list: string, signal: AbortSignal): Promise<void> {
  const selector = Object.entries(probeLabels).map(([label, value]) => `${label}=${value}`);
  const path = `${list}?labelSelector=${encodeURIComponent(selector.join(','))}`;
  const found = await kube.request({ method: 'GET', path }, signal).catch(() => undefined);
  for (const pod of listAt(found?.body, 'items')) {
    const name = textAt(pod, 'metadata', 'name');
    const phase = textAt(pod, 'status', 'phase');
    if (name !== undefined && (phase === 'Succeeded' || phase === 'Failed'))
      await kube
        .request({ method: 'DELETE', path: `${list}/${encodeURIComponent(name)}` }, signal)
        .catch(() => undefined);
  }
}

/** Removes a pod, and waits until it is gone: it is given some seconds to take back what it has written. */
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
