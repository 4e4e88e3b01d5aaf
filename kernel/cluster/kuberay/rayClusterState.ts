import { fieldAt, listAt, stringAt } from '#shared/fields.ts';
import { isClusterError } from '#cluster/errors.ts';
import type { KubeConnection } from '#cluster/kube/kubeConnection.ts';
import { podLabels, readRayPod, type RayPod } from './rayPods.ts';

export type RayClusterName = { readonly namespace: string; readonly name: string };

export type RayClusterState = {
  /** The object as received from the API server. */
  readonly object: unknown;
  readonly isSuspended: boolean;
  /** The operator has reported the minimum number of pods as ready. */
  readonly isProvisioned: boolean;
  /** Why the operator could not create pods, such as a quota; `undefined` if it reports nothing. */
  readonly problem: string | undefined;
  readonly pods: readonly RayPod[];
};

export const rayClusterPath = ({ namespace, name }: RayClusterName): string =>
  `/apis/ray.io/v1/namespaces/${encodeURIComponent(namespace)}/rayclusters/${encodeURIComponent(name)}`;

/** Returns the path of a RayCluster's pods, or of its head pod only. */
export const rayPodsPath = ({ namespace, name }: RayClusterName, only?: 'head'): string => {
  const labels = [`${podLabels.cluster}=${name}`, ...(only === 'head' ? [`${podLabels.type}=head`] : [])];
  return `/api/v1/namespaces/${encodeURIComponent(namespace)}/pods?labelSelector=${encodeURIComponent(labels.join(','))}`;
};

/** Reads the object; `undefined` if it does not exist. @throws ClusterError */
export async function findRayCluster(
  connection: KubeConnection,
  name: RayClusterName,
  signal: AbortSignal,
): Promise<unknown> {
  try {
    return (await connection.request({ method: 'GET', path: rayClusterPath(name) }, signal)).body;
  } catch (error) {
    if (isClusterError(error) && error.kind === 'NotFound') return undefined;
    throw error;
  }
}

/** Reads the state; `undefined` if the RayCluster does not exist. @throws ClusterError */
export async function readRayClusterState(
  connection: KubeConnection,
  name: RayClusterName,
  signal: AbortSignal,
): Promise<RayClusterState | undefined> {
  const [object, pods] = await Promise.all([
    findRayCluster(connection, name, signal),
    connection.request({ method: 'GET', path: rayPodsPath(name) }, signal),
  ]);
  if (object === undefined) return undefined;
  const own = listAt(pods.body, 'items').flatMap((item) => readRayPod(item) ?? []);
  const problem =
    problemOf(object) ?? (own.length === 0 ? await refusalOf(connection, name, object, signal) : undefined);
  return {
    object,
    isSuspended: stringAt(object, 'status', 'state') === 'suspended',
    isProvisioned: isProvisioned(object),
    // The operator writes reason and message on separate lines.
    problem: problem?.replaceAll(/\s*\n\s*/g, ': '),
    pods: own,
  };
}

/**
 * Reads `status.state`, because conditions exist only since KubeRay 1.3. The state stays `ready` when pods are lost
 * later.
 */
function isProvisioned(object: unknown): boolean {
  // A status of an older spec is ignored.
  const seen = fieldAt(object, 'status', 'observedGeneration');
  if (seen !== undefined && seen !== fieldAt(object, 'metadata', 'generation')) return false;
  return stringAt(object, 'status', 'state') === 'ready';
}

function problemOf(object: unknown): string | undefined {
  const failed = listAt(object, 'status', 'conditions').find(
    (one) => stringAt(one, 'type') === 'ReplicaFailure' && stringAt(one, 'status') === 'True',
  );
  return stringAt(failed, 'message') ?? stringAt(object, 'status', 'reason');
}

/**
 * Returns the last warning of the operator, which says why there are no pods; otherwise a message that the user may not
 * list events.
 */
async function refusalOf(
  connection: KubeConnection,
  { namespace, name }: RayClusterName,
  object: unknown,
  signal: AbortSignal,
): Promise<string | undefined> {
  const uid = stringAt(object, 'metadata', 'uid') ?? '';
  const selector = encodeURIComponent(`involvedObject.name=${name},involvedObject.uid=${uid},type=Warning`);
  const path = `/api/v1/namespaces/${encodeURIComponent(namespace)}/events?fieldSelector=${selector}`;
  try {
    const { body } = await connection.request({ method: 'GET', path }, signal);
    const last = listAt(body, 'items')
      .toSorted((a, b) => timeOf(a).localeCompare(timeOf(b)))
      .at(-1);
    return stringAt(last, 'message');
  } catch (error) {
    if (isClusterError(error) && error.kind === 'Forbidden')
      return 'the events of the namespace say why, but you are not allowed to list them.';
    throw error;
  }
}

const timeOf = (event: unknown): string =>
  stringAt(event, 'lastTimestamp') ?? stringAt(event, 'metadata', 'creationTimestamp') ?? '';
