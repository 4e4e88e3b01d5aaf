import { isDeepStrictEqual } from 'node:util';
import type { ClusterProfile, RayGroup } from '#cluster/profile.ts';
import { definitionOf, type KubeApi, type KubeObject } from './kubeApi.ts';
import { sharedCluster, type KubeCluster } from './kubeCluster.ts';
import { kuberay } from './sound/kuberay.ts';
import { names } from './sound/names.ts';
import { nodes } from './sound/nodes.ts';
import { rights } from './sound/rights.ts';

const definitions = ['rayclusters', 'rayjobs'] as const;
const objects: readonly KubeObject[] = [...rights, ...nodes, ...kuberay];

/** A cluster with everything that a backfill needs. A test creates a fault in it, then restores it. */
export type SoundCluster = KubeCluster & {
  /** The profile of a user who may read everything. */
  readonly profile: ClusterProfile;
  /** Returns a copy of an object by kind and name, for a test to change. */
  readonly object: (kind: string, name: string) => KubeObject;
  /** Restores the cluster: recreates missing or changed objects, and deletes added ones. */
  restore(): Promise<void>;
};

let shared: Promise<SoundCluster> | undefined;

/** Returns the shared cluster, set up once in this process. */
export function soundCluster(): Promise<SoundCluster> {
  shared ??= sharedCluster().then(makeSound);
  return shared;
}

/** Creates all objects of a sound cluster in an empty one. */
export async function makeSound(cluster: KubeCluster): Promise<SoundCluster> {
  const { api } = cluster;
  await api.apply({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'kube-system' } });
  await api.define(...definitions);
  await api.apply(...objects);
  const before: Before = { objects: await snapshot(api), definitions: new Map() };
  for (const plural of definitions) before.definitions.set(plural, await api.generation(definitionOf(plural)));
  return {
    ...cluster,
    profile: profileFor(cluster.kubeconfig('alice')),
    object: (kind, name) => {
      const found = objects.find((one) => one.kind === kind && one.metadata.name === name);
      if (found === undefined) throw new Error(`The sound cluster has no ${kind} ${name}.`);
      return structuredClone(found);
    },
    restore: () => restore(api, before),
  };
}

const label = (part: string): Record<string, string> => ({ [`${names.labelDomain}/${part}`]: 'true' });

/** Returns a profile for the sound cluster with a kubeconfig, without a cloud, storage or catalog. */
export function profileFor(kubeconfig: string): ClusterProfile {
  const common = { serviceAccount: names.serviceAccount, image: names.image };
  const workers = { ...common, minReplicas: 0, maxReplicas: 4 };
  const headGroup: RayGroup = {
    ...common,
    numCpus: 4,
    memory: '8Gi',
    numGpus: 0,
    nodeSelector: label('ray-head'),
    minReplicas: 1,
    maxReplicas: 1,
  };
  return {
    name: 'sound',
    auth: { configMethod: 'LOCAL', kubeconfig },
    namespace: names.namespace,
    serviceAccount: names.serviceAccount,
    labelDomain: names.labelDomain,
    rayCluster: names.rayCluster,
    rayVersion: names.rayVersion,
    usePortForwarding: true,
    headGroup,
    workerGroups: [
      { ...workers, name: 'cpu', numCpus: 4, memory: '8Gi', numGpus: 0, nodeSelector: label('ray-worker-cpu') },
      { ...workers, name: 'gpu', numCpus: 8, memory: '16Gi', numGpus: 1, nodeSelector: label('ray-worker-gpu') },
    ],
    storage: undefined,
    aws: undefined,
    gcp: undefined,
    catalog: undefined,
  };
}

/** Every kind of object that a test may add, in the order of creation. */
const kinds: readonly (readonly [apiVersion: string, kind: string])[] = [
  ...new Map(objects.map(({ apiVersion, kind }) => [`${apiVersion} ${kind}`, [apiVersion, kind] as const])).values(),
  ['rbac.authorization.k8s.io/v1', 'Role'],
  ['rbac.authorization.k8s.io/v1', 'RoleBinding'],
];

const keyOf = ({ kind, metadata }: KubeObject): string => `${kind} ${metadata.namespace ?? ''}/${metadata.name}`;

/** Returns all objects of `kinds`, including the roles of Kubernetes itself. */
async function snapshot(api: KubeApi): Promise<Map<string, KubeObject>> {
  const lists: KubeObject[][] = [];
  for (const [apiVersion, kind] of kinds) lists.push(await api.list(apiVersion, kind));
  return new Map(lists.flat().map((object) => [keyOf(object), object]));
}

type Before = {
  readonly objects: ReadonlyMap<string, KubeObject>;
  /** Generations of definitions by the resource's plural. The generation changes if the definition is recreated. */
  readonly definitions: Map<string, string | undefined>;
};

/** Restores the cluster. Writes only differences, because most tests change one object. */
async function restore(api: KubeApi, before: Before): Promise<void> {
  for (const plural of definitions) {
    const definition = definitionOf(plural);
    if ((await api.generation(definition)) === before.definitions.get(plural)) continue;
    await api.define(plural);
    before.definitions.set(plural, await api.generation(definition));
  }
  const now = await snapshot(api);
  for (const [key, object] of now) if (!before.objects.has(key)) await api.delete(object);
  for (const [key, object] of before.objects) {
    const is = now.get(key);
    if (is === undefined) await api.apply(asSent(object));
    else if (!isDeepStrictEqual(asSent(is), asSent(object))) await api.replace(asSent(object));
  }
}

/** Returns an object without the fields that the API server adds. */
function asSent(object: KubeObject): KubeObject {
  const { name, namespace, labels, annotations } = object.metadata;
  const metadata = {
    name,
    ...(namespace && { namespace }),
    ...(labels && { labels }),
    ...(annotations && { annotations }),
  };
  return { ...object, metadata };
}
