import { nodeKinds } from '#cluster/kube/placement.ts';
import { gpuResource, resourcesOfGroup, writeCpu, writeMemory } from '#cluster/kube/quantities.ts';
import type { KubernetesManifest } from '#cluster/fixes/fix.ts';
import type { RayGroup } from '#cluster/profile.ts';
import type { RayClusterSpec } from './rayClusterSpec.ts';

/** Where Ray listens in a pod of the head. */
export const rayPorts = { gcs: 6379, dashboard: 8265, client: 10001 } as const;

/** What marks the RayClusters that were made by us. */
const managedBy = { 'app.kubernetes.io/managed-by': 'lance-catalog' } as const;

/**
 * The object that a spec becomes, of fields that operators know since 1.1: the API server refuses one that its definition
 * lacks, and newer operators refuse some that are there (the idle time of a group, without the second autoscaler).
 */
export function rayClusterObject(spec: RayClusterSpec): KubernetesManifest {
  const { name, namespace, rayVersion, workers, idleTimeoutSeconds } = spec;
  return {
    apiVersion: 'ray.io/v1',
    kind: 'RayCluster',
    metadata: { name, namespace, labels: managedBy },
    spec: {
      rayVersion,
      enableInTreeAutoscaling: workers.some(({ minReplicas, maxReplicas }) => minReplicas < maxReplicas),
      autoscalerOptions: {
        idleTimeoutSeconds,
        // It is a container in the pod of the head, which is scheduled with what both ask for.
        resources: both({ cpu: '500m', memory: '512Mi' }),
      },
      headGroupSpec: {
        rayStartParams: {
          // No work on the head: with it all jobs would be lost.
          'num-cpus': '0',
          'dashboard-host': '0.0.0.0',
        },
        template: { spec: podOf(spec, spec.head, 'ray-head') },
      },
      workerGroupSpecs: workers.map((group) => ({
        groupName: group.name,
        replicas: group.minReplicas,
        minReplicas: group.minReplicas,
        // KubeRay's own is two thousand million.
        maxReplicas: group.maxReplicas,
        rayStartParams: {},
        template: { spec: podOf(spec, group, 'ray-worker') },
      })),
    },
  };
}

function podOf({ labelDomain }: RayClusterSpec, group: RayGroup, container: 'ray-head' | 'ray-worker'): object {
  const isHead = container === 'ray-head';
  const { cpu, memory, gpu } = resourcesOfGroup(group);
  const kind = isHead ? nodeKinds.head : gpu > 0 ? nodeKinds.gpu : nodeKinds.cpu;
  return {
    serviceAccountName: group.serviceAccount,
    nodeSelector: group.nodeSelector,
    tolerations: [
      // Nodes that are labelled for Ray are often kept for it by a taint of the same name.
      { key: `${labelDomain}/${kind}`, operator: 'Exists' },
      ...(gpu > 0 ? [{ key: gpuResource, operator: 'Exists' }] : []),
    ],
    containers: [
      {
        name: container,
        image: group.image,
        // As much as it may have: with less it is scheduled where it is killed later.
        resources: both({
          cpu: writeCpu(cpu),
          memory: writeMemory(memory),
          ...(gpu > 0 ? { [gpuResource]: String(gpu) } : {}),
        }),
        ...(isHead
          ? {
              ports: [
                { name: 'gcs-server', containerPort: rayPorts.gcs },
                { name: 'dashboard', containerPort: rayPorts.dashboard },
                { name: 'client', containerPort: rayPorts.client },
              ],
            }
          : {}),
      },
    ],
  };
}

const both = (amounts: Readonly<Record<string, string>>): object => ({ requests: amounts, limits: amounts });
