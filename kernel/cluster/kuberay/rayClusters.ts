import { ClusterError, isClusterError } from '#cluster/errors.ts';
import { at } from '#cluster/kube/fields.ts';
import type { KubeConnection } from '#cluster/kube/kubeConnection.ts';
import { rayClusterObject } from './rayClusterObject.ts';
import type { RayClusterSpec } from './rayClusterSpec.ts';
import { findRayCluster, rayClusterPath, type RayClusterName } from './rayClusterState.ts';
import { showDifferences, specDifferences } from './specDifferences.ts';

// What is done with RayClusters themselves: made or taken, put to sleep, woken, removed. All throw ClusterError.

/** The name that our fields of an object are known by. */
const manager = 'lance-catalog';

/**
 * Makes a RayCluster, or takes the one of this name where it is as asked for.
 * @returns whether it was there
 * @throws ClusterError Conflict with every difference where it is otherwise
 */
export async function makeRayCluster(
  connection: KubeConnection,
  spec: RayClusterSpec,
  signal: AbortSignal,
): Promise<{ readonly adopted: boolean }> {
  const object = rayClusterObject(spec);
  const there = await findRayCluster(connection, spec, signal);
  if (there !== undefined) {
    const differences = specDifferences(at(there, 'spec'), object['spec']);
    if (differences.length > 0)
      throw new ClusterError(
        'Conflict',
        `RayCluster "${spec.namespace}/${spec.name}" already exists with other settings:\n${showDifferences(differences)}.`,
        'Use its settings, choose another name, or delete it first.',
      );
    if (at(there, 'spec', 'suspend') === true) await resumeRayCluster(connection, spec, signal);
    return { adopted: true };
  }
  // Not by force: who made one of this name meanwhile keeps it.
  const query = new URLSearchParams({ fieldManager: manager, force: 'false' });
  const path = `${rayClusterPath(spec)}?${query.toString()}`;
  // JSON is YAML.
  const apply = { method: 'PATCH', path, contentType: 'application/apply-patch+yaml', body: object } as const;
  try {
    await connection.request(apply, signal);
  } catch (error) {
    if (!isClusterError(error) || error.kind !== 'NotFound') throw error;
    throw new ClusterError(
      'NotFound',
      `Can't create RayCluster "${spec.namespace}/${spec.name}": ${error.what}`,
      `Check that the cluster has the namespace "${spec.namespace}" and KubeRay 1.1 or newer.`,
      { cause: error },
    );
  }
  return { adopted: false };
}

/** Has the operator remove all pods and keep the RayCluster. What runs on it is lost. */
export const suspendRayCluster = (
  connection: KubeConnection,
  name: RayClusterName,
  signal: AbortSignal,
): Promise<void> => setSuspend(connection, name, true, signal);

export const resumeRayCluster = (
  connection: KubeConnection,
  name: RayClusterName,
  signal: AbortSignal,
): Promise<void> => setSuspend(connection, name, false, signal);

async function setSuspend(
  connection: KubeConnection,
  name: RayClusterName,
  suspend: boolean,
  signal: AbortSignal,
): Promise<void> {
  // Under a name of its own: the fields of the one above are what was asked for, and stay that.
  const path = `${rayClusterPath(name)}?fieldManager=${manager}-suspend`;
  const contentType = 'application/merge-patch+json';
  await connection.request({ method: 'PATCH', path, contentType, body: { spec: { suspend } } }, signal);
}

/**
 * Removes a RayCluster; its pods and services go with it.
 * @returns whether there was one
 */
export async function deleteRayCluster(
  connection: KubeConnection,
  name: RayClusterName,
  signal: AbortSignal,
): Promise<boolean> {
  const body = { kind: 'DeleteOptions', apiVersion: 'v1', propagationPolicy: 'Background' };
  try {
    await connection.request({ method: 'DELETE', path: rayClusterPath(name), body }, signal);
    return true;
  } catch (error) {
    if (isClusterError(error) && error.kind === 'NotFound') return false;
    throw error;
  }
}
