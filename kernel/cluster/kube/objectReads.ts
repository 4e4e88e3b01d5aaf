import { isClusterError } from '#cluster/errors.ts';
import { listAt, stringAt } from '#shared/fields.ts';
import type { KubeReads } from './kubeReads.ts';
import { type KubeNode, readNode } from './nodes.ts';
import { type Pod, readPod } from './pods.ts';
import { groupsOfProfile, type GroupSpec, type RayCluster, readRayCluster } from './rayGroups.ts';
import { type Binding, readBinding, readRole, type Role } from './roles.ts';
import { isOperator, readDaemonSet, readDeployment, type Workload } from './workloads.ts';

// Reads the cluster's objects for the checks. In one run of the checks, each list is read only once. All functions
// throw ClusterError, for example Forbidden if the user has no read access.

/** Objects per request: most clusters need one request, and a reply has some MiB. */
const pageSize = 500;

/** Reads all pages of a list. @throws ClusterError */
async function listAll(kube: KubeReads, path: string): Promise<readonly unknown[]> {
  const items: unknown[] = [];
  let next: string | undefined;
  do {
    const query = new URLSearchParams({ limit: String(pageSize), ...(next === undefined ? {} : { continue: next }) });
    const page = await kube.get(`${path}${path.includes('?') ? '&' : '?'}${query.toString()}`);
    items.push(...listAt(page, 'items'));
    next = stringAt(page, 'metadata', 'continue');
  } while (next !== undefined);
  return items;
}

const rbac = '/apis/rbac.authorization.k8s.io/v1';
const apps = '/apis/apps/v1';

const inNamespace = ({ profile }: KubeReads): string => `namespaces/${encodeURIComponent(profile.namespace)}`;

export const namespacePath = (kube: KubeReads): string => `/api/v1/${inNamespace(kube)}`;
export const nodesPath = '/api/v1/nodes';
export const podsPath = (kube: KubeReads): string => `/api/v1/${inNamespace(kube)}/pods`;
export const rayClusterPath = (kube: KubeReads, name: string): string =>
  `/apis/ray.io/v1/${inNamespace(kube)}/rayclusters/${encodeURIComponent(name)}`;
export const definitionPath = (name: string): string =>
  `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${name}`;
export const daemonSetsPath = `${apps}/daemonsets`;
export const deploymentsPath = `${apps}/deployments`;
export const clusterRolesPath = `${rbac}/clusterroles`;
export const clusterRoleBindingsPath = `${rbac}/clusterrolebindings`;
export const roleBindingsPath = (kube: KubeReads): string => `${rbac}/${inNamespace(kube)}/rolebindings`;
export const quotasPath = (kube: KubeReads): string => `/api/v1/${inNamespace(kube)}/resourcequotas`;
export const limitRangesPath = (kube: KubeReads): string => `/api/v1/${inNamespace(kube)}/limitranges`;

const readAll = <T>(kube: KubeReads, path: string, read: (item: unknown) => T | undefined): Promise<readonly T[]> =>
  kube.once(`objects of ${path}`, async () => (await listAll(kube, path)).flatMap((item) => read(item) ?? []));

export const nodesOf = (kube: KubeReads): Promise<readonly KubeNode[]> => readAll(kube, nodesPath, readNode);

/** The namespace's pods that have not ended. */
export const podsOf = (kube: KubeReads): Promise<readonly Pod[]> => readAll(kube, podsPath(kube), readPod);

export const clusterRolesOf = (kube: KubeReads): Promise<readonly Role[]> => readAll(kube, clusterRolesPath, readRole);

export const clusterRoleBindingsOf = (kube: KubeReads): Promise<readonly Binding[]> =>
  readAll(kube, clusterRoleBindingsPath, readBinding);

export const roleBindingsOf = (kube: KubeReads): Promise<readonly Binding[]> =>
  readAll(kube, roleBindingsPath(kube), readBinding);

/** The DaemonSets of all namespaces. */
export const daemonSetsOf = (kube: KubeReads): Promise<readonly Workload[]> =>
  readAll(kube, daemonSetsPath, readDaemonSet);

/** The resource quotas of the namespace, unparsed. */
export const quotasOf = (kube: KubeReads): Promise<readonly unknown[]> =>
  readAll(kube, quotasPath(kube), (item) => item);

export const limitRangesOf = (kube: KubeReads): Promise<readonly unknown[]> =>
  readAll(kube, limitRangesPath(kube), (item) => item);

/** The label that the operator's Helm chart sets on its Deployment. */
const operatorLabel = `labelSelector=${encodeURIComponent('app.kubernetes.io/name=kuberay-operator')}`;

type FoundOperators = {
  readonly operators: readonly Workload[];
  /** All namespaces were readable, not only the namespace of the profile. */
  readonly isWhole: boolean;
};

/**
 * Returns the operator's Deployments in all namespaces. If the user may not read all namespaces, returns those in the
 * namespace of the profile.
 */
export const operatorsOf = (kube: KubeReads): Promise<FoundOperators> =>
  kube.once('operators', async () => {
    try {
      return { operators: await operatorsAt(kube, deploymentsPath), isWhole: true };
    } catch (error) {
      if (!isClusterError(error) || error.kind !== 'Forbidden') throw error;
      return { operators: await operatorsAt(kube, `${apps}/${inNamespace(kube)}/deployments`), isWhole: false };
    }
  });

/**
 * Finds operators by the chart's label. Without a match, checks every Deployment, because other manifests have other
 * labels.
 */
async function operatorsAt(kube: KubeReads, path: string): Promise<readonly Workload[]> {
  const labelled = await readAll(kube, `${path}?${operatorLabel}`, readDeployment);
  return labelled.length > 0 ? labelled : (await readAll(kube, path, readDeployment)).filter(isOperator);
}

/** Reads the profile's RayCluster. Returns `undefined` if the profile names none, or if it does not exist. */
export async function rayClusterOf(kube: KubeReads): Promise<RayCluster | undefined> {
  const { rayCluster } = kube.profile;
  return rayCluster === undefined ? undefined : readRayCluster(await kube.find(rayClusterPath(kube, rayCluster)));
}

/** Returns head and workers of the existing RayCluster. Without one, returns the head and workers of the profile. */
export async function groupsOf(kube: KubeReads): Promise<readonly GroupSpec[]> {
  try {
    return (await rayClusterOf(kube))?.groups ?? groupsOfProfile(kube.profile);
  } catch (error) {
    // If the user may not read the RayCluster, the groups of the profile can still be checked.
    if (isClusterError(error) && error.kind === 'Forbidden') return groupsOfProfile(kube.profile);
    throw error;
  }
}
