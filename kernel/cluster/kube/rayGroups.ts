import type { ClusterProfile, RayGroup } from '#cluster/profile.ts';
import { at, listAt, mapAt, numberAt, textAt } from './fields.ts';
import { readToleration, type Toleration } from './nodes.ts';
import { defaultPodAccount } from './pods.ts';
import { gpuResource, parseQuantity, resourcesOfGroup, sumOf, type Resources } from './quantities.ts';

/** The head or a group of workers, of a RayCluster that is there or of a profile about to be launched. */
export type GroupSpec = {
  readonly role: 'head' | 'worker';
  /** For people: `the head`, `the workers "gpu"`. */
  readonly title: string;
  /** Of a group of workers. */
  readonly name: string | undefined;
  /** What one pod asks for. */
  readonly resources: Resources;
  /** What each container of a pod asks for. */
  readonly containers: readonly Resources[];
  readonly serviceAccount: string;
  readonly nodeSelector: Readonly<Record<string, string>>;
  /** `undefined` where the specs are not known yet. */
  readonly tolerations: readonly Toleration[] | undefined;
  readonly minReplicas: number;
  readonly maxReplicas: number;
  readonly image: string | undefined;
  /** `num-cpus` of `rayStartParams`: what Ray is told the pod has. */
  readonly toldCpus: string | undefined;
};

export type RayCluster = {
  readonly name: string;
  /** `ray.io/v1`. */
  readonly apiVersion: string;
  readonly rayVersion: string | undefined;
  /** Of its head, as the operator says or would name it. */
  readonly headService: string;
  readonly groups: readonly GroupSpec[];
  /** The specs of its workers as they came: a list in a manifest is replaced as a whole. */
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
    // As `ray.cluster()` makes it.
    toldCpus: role === 'head' ? '0' : undefined,
  });
  return [specOf(headGroup, 'head'), ...workerGroups.map((group) => specOf(group, 'worker'))];
}

/** A RayCluster as the API server has it; `undefined` for what is none. */
export function readRayCluster(item: unknown): RayCluster | undefined {
  const name = textAt(item, 'metadata', 'name');
  const apiVersion = textAt(item, 'apiVersion');
  if (name === undefined || apiVersion === undefined) return undefined;
  const workerSpecs = listAt(item, 'spec', 'workerGroupSpecs');
  return {
    name,
    apiVersion,
    rayVersion: textAt(item, 'spec', 'rayVersion'),
    headService: textAt(item, 'status', 'head', 'serviceName') ?? `${name}-head-svc`,
    groups: [
      readGroup(at(item, 'spec', 'headGroupSpec'), 'head'),
      ...workerSpecs.map((spec) => readGroup(spec, 'worker')),
    ],
    workerSpecs,
  };
}

function readGroup(spec: unknown, role: GroupSpec['role']): GroupSpec {
  const pod = at(spec, 'template', 'spec');
  const containers = listAt(pod, 'containers');
  const asked = containers.map(readContainer);
  const name = textAt(spec, 'groupName');
  const hosts = numberAt(spec, 'numOfHosts') ?? 1;
  const min = numberAt(spec, 'minReplicas') ?? 0;
  return {
    role,
    title: titleOf(role, name),
    name,
    resources: sumOf(asked),
    containers: asked,
    serviceAccount: textAt(pod, 'serviceAccountName') ?? defaultPodAccount,
    nodeSelector: mapAt(pod, 'nodeSelector'),
    tolerations: listAt(pod, 'tolerations').map(readToleration),
    minReplicas: role === 'head' ? 1 : min * hosts,
    maxReplicas: role === 'head' ? 1 : (numberAt(spec, 'maxReplicas') ?? min) * hosts,
    image: textAt(containers[0], 'image'),
    toldCpus: textAt(spec, 'rayStartParams', 'num-cpus'),
  };
}

/** What a container asks for: where it says only a limit, Kubernetes takes that for its request. */
function readContainer(container: unknown): Resources {
  const amount = (resource: string): number =>
    parseQuantity(at(container, 'resources', 'requests', resource)) ??
    parseQuantity(at(container, 'resources', 'limits', resource)) ??
    0;
  return { cpu: amount('cpu'), memory: amount('memory'), gpu: amount(gpuResource) };
}

const titleOf = (role: GroupSpec['role'], name: string | undefined): string =>
  role === 'head' ? 'the head' : name === undefined ? 'the workers' : `the workers "${name}"`;
