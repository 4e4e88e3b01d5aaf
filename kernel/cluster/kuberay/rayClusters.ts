import { ClusterError, isClusterError } from '#cluster/errors.ts';
import { fieldAt } from '#shared/fields.ts';
import type { KubeConnection } from '#cluster/kube/kubeConnection.ts';
import { rayClusterObject } from './rayClusterObject.ts';
import type { RayClusterSpec } from './rayClusterSpec.ts';
import { findRayCluster, rayClusterPath, type RayClusterName } from './rayClusterState.ts';
import { showDifferences, specDifferences } from './specDifferences.ts';

// Operations on RayClusters: create or adopt, suspend, resume, delete. All throw ClusterError.

/** The field manager for server-side apply. */
const manager = 'lance-catalog';

/**
 * Creates a RayCluster, or adopts an existing one with the same name and settings.
 * @returns whether it existed
 * @throws ClusterError Conflict with every difference if its settings differ
 */
export async function createOrAdoptRayCluster(
  connection: KubeConnection,
  spec: RayClusterSpec,
  signal: AbortSignal,
): Promise<{ readonly adopted: boolean }> {
  const object = rayClusterObject(spec);
  const there = await findRayCluster(connection, spec, signal);
  if (there !== undefined) {
    const differences = specDifferences(fieldAt(there, 'spec'), object['spec']);
    if (differences.length > 0)
      throw new ClusterError(
        'Conflict',
        `RayCluster "${spec.namespace}/${spec.name}" already exists with other settings:\n${showDifferences(differences)}.`,
        'Use its settings, choose another name, or delete it first.',
      );
    if (fieldAt(there, 'spec', 'suspend') === true) await resumeRayCluster(connection, spec, signal);
    return { adopted: true };
  }
  // Without force: if another client creates a cluster with this name at the same time, that client keeps it.
  const query = new URLSearchParams({ fieldManager: manager, force: 'false' });
  const path = `${rayClusterPath(spec)}?${query.toString()}`;
  // JSON is valid YAML.
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

/** Has the operator remove all pods but keep the RayCluster. Running jobs are lost. */
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
  // Uses another field manager, so that `manager` still owns exactly the requested fields.
  const path = `${rayClusterPath(name)}?fieldManager=${manager}-suspend`;
  const contentType = 'application/merge-patch+json';
  await connection.request({ method: 'PATCH', path, contentType, body: { spec: { suspend } } }, signal);
}

/**
 * Deletes a RayCluster with its pods and services.
 * @returns whether it existed
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
