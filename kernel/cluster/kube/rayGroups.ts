import type { ClusterProfile, RayGroup } from '#cluster/profile.ts';
import { fieldAt, listAt, mapAt, numberAt, stringAt } from '#shared/fields.ts';
import { readToleration, type Toleration } from './nodes.ts';
import { defaultPodAccount } from './pods.ts';
import { gpuResource, parseQuantity, resourcesOfGroup, sumOf, type Resources } from './quantities.ts';

/** The head or a worker group, of an existing RayCluster or of a profile before launch. */
export type GroupSpec = {
  readonly role: 'head' | 'worker';
  /** For display: `the head`, `the workers "gpu"`. */
  readonly title: string;
  /** Set only for a worker group. */
  readonly name: string | undefined;
  /** Requests of one pod. */
  readonly resources: Resources;
  /** Requests of each container in a pod. */
  readonly containers: readonly Resources[];
  readonly serviceAccount: string;
  readonly nodeSelector: Readonly<Record<string, string>>;
  /** `undefined` if the specs are not known yet. */
  readonly tolerations: readonly Toleration[] | undefined;
  readonly minReplicas: number;
  readonly maxReplicas: number;
  readonly image: string | undefined;
  /** `num-cpus` of `rayStartParams`: the CPUs that Ray assumes the pod has. */
  readonly toldCpus: string | undefined;
};

export type RayCluster = {
  readonly name: string;
  /** `ray.io/v1`. */
  readonly apiVersion: string;
  readonly rayVersion: string | undefined;
  /**
   * The name of the head's service. The operator reports it; before that, the name follows from the operator's rule.
   */
  readonly headService: string;
  readonly groups: readonly GroupSpec[];
  /** The specs of the worker groups, unparsed, because a manifest replaces a list as a whole. */
  readonly workerSpecs: readonly unknown[];
};

export function groupsOfProfile({ headGroup, workerGroups }: ClusterProfile): readonly GroupSpec[] {
  const specOf = (group: RayGroup, role: GroupSpec['role']): GroupSpec => ({
    role,
    title: titleOf(role, group.name),
    name: group.name,
    resources: resourcesOfGroup(group),
    containers: [resourcesOfGroup(group)],
    serviceAccount: group.serviceAccount,
    nodeSelector: group.nodeSelector,
    tolerations: undefined,
    minReplicas: role === 'head' ? 1 : group.minReplicas,
    maxReplicas: role === 'head' ? 1 : group.maxReplicas,
    image: group.image,
    // The value that `ray.cluster()` sets.
    toldCpus: role === 'head' ? '0' : undefined,
  });
  return [specOf(headGroup, 'head'), ...workerGroups.map((group) => specOf(group, 'worker'))];
}

/** Parses a RayCluster, or returns `undefined` if it is not one. */
export function readRayCluster(item: unknown): RayCluster | undefined {
  const name = stringAt(item, 'metadata', 'name');
  const apiVersion = stringAt(item, 'apiVersion');
  if (name === undefined || apiVersion === undefined) return undefined;
  const workerSpecs = listAt(item, 'spec', 'workerGroupSpecs');
  return {
    name,
    apiVersion,
    rayVersion: stringAt(item, 'spec', 'rayVersion'),
    headService: stringAt(item, 'status', 'head', 'serviceName') ?? `${name}-head-svc`,
    groups: [
      readGroup(fieldAt(item, 'spec', 'headGroupSpec'), 'head'),
      ...workerSpecs.map((spec) => readGroup(spec, 'worker')),
    ],
    workerSpecs,
  };
}

function readGroup(spec: unknown, role: GroupSpec['role']): GroupSpec {
  const pod = fieldAt(spec, 'template', 'spec');
  const containers = listAt(pod, 'containers');
  const asked = containers.map(readContainer);
  const name = stringAt(spec, 'groupName');
  const hosts = numberAt(spec, 'numOfHosts') ?? 1;
  const min = numberAt(spec, 'minReplicas') ?? 0;
  return {
    role,
    title: titleOf(role, name),
    name,
    resources: sumOf(asked),
    containers: asked,
    serviceAccount: stringAt(pod, 'serviceAccountName') ?? defaultPodAccount,
    nodeSelector: mapAt(pod, 'nodeSelector'),
    tolerations: listAt(pod, 'tolerations').map(readToleration),
    minReplicas: role === 'head' ? 1 : min * hosts,
    maxReplicas: role === 'head' ? 1 : (numberAt(spec, 'maxReplicas') ?? min) * hosts,
    image: stringAt(containers[0], 'image'),
    toldCpus: stringAt(spec, 'rayStartParams', 'num-cpus'),
  };
}

/** Returns a container's requests; if only a limit is set, Kubernetes uses it as the request. */
function readContainer(container: unknown): Resources {
  const amount = (resource: string): number =>
    parseQuantity(fieldAt(container, 'resources', 'requests', resource)) ??
    parseQuantity(fieldAt(container, 'resources', 'limits', resource)) ??
    0;
  return { cpu: amount('cpu'), memory: amount('memory'), gpu: amount(gpuResource) };
}

const titleOf = (role: GroupSpec['role'], name: string | undefined): string =>
  role === 'head' ? 'the head' : name === undefined ? 'the workers' : `the workers "${name}"`;
