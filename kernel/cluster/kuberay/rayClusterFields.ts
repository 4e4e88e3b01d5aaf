import { isClusterError } from '#cluster/errors.ts';
import { at } from '#cluster/kube/fields.ts';
import type { KubeConnection } from '#cluster/kube/kubeConnection.ts';

/** Which fields of a RayCluster the cluster's definition has that older operators lack. */
export type RayClusterFields = {
  /** `idleTimeoutSeconds` of a group of workers: since 1.3. */
  readonly groupIdleTimeout: boolean;
};

const openApi = '/openapi/v3/apis/ray.io/v1';
const schemaName = 'io.ray.v1.RayCluster';

/**
 * Asks the API server which fields it takes, since it refuses an object with one that it does not know. By its OpenAPI
 * document, which everybody who is signed in may read, and not by the definition itself, which takes a grant.
 * @throws ClusterError NotFound where RayClusters are not known at all
 */
export async function readRayClusterFields(connection: KubeConnection, signal: AbortSignal): Promise<RayClusterFields> {
  try {
    const { body } = await connection.request({ method: 'GET', path: openApi }, signal);
    return fieldsOf(at(body, 'components', 'schemas', schemaName));
  } catch (error) {
    // Who may not read it does without: every version takes an object of the fields that all know.
    if (isClusterError(error) && error.kind === 'Forbidden') return { groupIdleTimeout: false };
    throw error;
  }
}

export function fieldsOf(schema: unknown): RayClusterFields {
  const spec = at(schema, 'properties', 'spec', 'properties');
  const group = at(spec, 'workerGroupSpecs', 'items', 'properties');
  return { groupIdleTimeout: at(group, 'idleTimeoutSeconds') !== undefined };
}
