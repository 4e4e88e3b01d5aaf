import { isClusterError } from '#cluster/errors.ts';
import { listAt, textAt } from './fields.ts';
import type { KubeReads } from './kubeReads.ts';
import { type KubeNode, readNode } from './nodes.ts';
import { type Pod, readPod } from './pods.ts';
import { groupsOfProfile, type GroupSpec, type RayCluster, readRayCluster } from './rayGroups.ts';
import { type Binding, readBinding, readRole, type Role } from './roles.ts';
import { isOperator, readDaemonSet, readDeployment, type Workload } from './workloads.ts';

// Objects of the cluster as checks want them, each list asked for once a run. All of these throw ClusterError, Forbidden
// among them where the person may not look.

/** Objects a request: large enough for most clusters in one, small enough for a reply of some MiB. */
const pageSize = 500;

/** Every object of a list, page by page. @throws ClusterError */
async function listAll(kube: KubeReads, path: string): Promise<readonly unknown[]> {
  const items: unknown[] = [];
  let next: string | undefined;
  do {
    const query = new URLSearchParams({ limit: String(pageSize), ...(next === undefined ? {} : { continue: next }) });
    const page = await kube.get(`${path}${path.includes('?') ? '&' : '?'}${query.toString()}`);
    items.push(...listAt(page, 'items'));
    next = textAt(page, 'metadata', 'continue');
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

/** Every node of the cluster. */
export const nodesOf = (kube: KubeReads): Promise<readonly KubeNode[]> => readAll(kube, nodesPath, readNode);

/** The pods of the namespace that have not ended. */
export const podsOf = (kube: KubeReads): Promise<readonly Pod[]> => readAll(kube, podsPath(kube), readPod);

export const clusterRolesOf = (kube: KubeReads): Promise<readonly Role[]> => readAll(kube, clusterRolesPath, readRole);

export const clusterRoleBindingsOf = (kube: KubeReads): Promise<readonly Binding[]> =>
  readAll(kube, clusterRoleBindingsPath, readBinding);

/** Those of the namespace. */
export const roleBindingsOf = (kube: KubeReads): Promise<readonly Binding[]> =>
  readAll(kube, roleBindingsPath(kube), readBinding);

/** Of all namespaces. */
export const daemonSetsOf = (kube: KubeReads): Promise<readonly Workload[]> =>
  readAll(kube, daemonSetsPath, readDaemonSet);

/** As they came: quotas of the namespace. */
export const quotasOf = (kube: KubeReads): Promise<readonly unknown[]> =>
  readAll(kube, quotasPath(kube), (item) => item);

export const limitRangesOf = (kube: KubeReads): Promise<readonly unknown[]> =>
  readAll(kube, limitRangesPath(kube), (item) => item);

/** What the operator's Deployment has where its chart installed it. */
const operatorLabel = `labelSelector=${encodeURIComponent('app.kubernetes.io/name=kuberay-operator')}`;

type FoundOperators = {
  readonly operators: readonly Workload[];
  /** All namespaces were looked at, and not ours alone, which is what some people may see. */
  readonly isWhole: boolean;
};

/** Deployments of the operator: of all namespaces, or of ours where the person may see no others. */
export const operatorsOf = (kube: KubeReads): Promise<FoundOperators> =>
  kube.once('operators', async () => {
    try {
      return { operators: await operatorsAt(kube, deploymentsPath), isWhole: true };
    } catch (error) {
      if (!isClusterError(error) || error.kind !== 'Forbidden') throw error;
      return { operators: await operatorsAt(kube, `${apps}/${inNamespace(kube)}/deployments`), isWhole: false };
    }
  });

/** By the label of its chart; else all are looked through, since manifests and other distributions have labels of their own. */
async function operatorsAt(kube: KubeReads, path: string): Promise<readonly Workload[]> {
  const labelled = await readAll(kube, `${path}?${operatorLabel}`, readDeployment);
  return labelled.length > 0 ? labelled : (await readAll(kube, path, readDeployment)).filter(isOperator);
}

/** The RayCluster that the profile names; `undefined` where it names none, or one that is not there. */
export async function rayClusterOf(kube: KubeReads): Promise<RayCluster | undefined> {
  const { rayCluster } = kube.profile;
  return rayCluster === undefined ? undefined : readRayCluster(await kube.find(rayClusterPath(kube, rayCluster)));
}

/** Head and workers: of the RayCluster where the profile names one that is there, else as the profile has them. */
export async function groupsOf(kube: KubeReads): Promise<readonly GroupSpec[]> {
  try {
    return (await rayClusterOf(kube))?.groups ?? groupsOfProfile(kube.profile);
  } catch (error) {
    // Who may not read it still wants to know about the groups that the profile has.
    if (isClusterError(error) && error.kind === 'Forbidden') return groupsOfProfile(kube.profile);
    throw error;
  }
}
