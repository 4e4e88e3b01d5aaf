import { nodeKinds } from '#cluster/kube/placement.ts';
import { gpuResource, resourcesOfGroup, writeCpu, writeMemory } from '#cluster/kube/quantities.ts';
import type { KubernetesManifest } from '#cluster/fixes/fix.ts';
import type { RayGroup } from '#cluster/profile.ts';
import type { RayClusterSpec } from './rayClusterSpec.ts';

/** Ports of Ray in the head's pod. */
export const rayPorts = { gcs: 6379, dashboard: 8265, client: 10001 } as const;

const managedBy = { 'app.kubernetes.io/managed-by': 'lance-catalog' } as const;

/**
 * Builds the object for a spec. Uses only fields that KubeRay 1.1 and later know.
 * The API server refuses fields that its definition lacks. Newer operators also refuse some fields, such as the idle
 * time of a group without the second version of the autoscaler.
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
        // The autoscaler is a container in the head's pod. The scheduler adds up the requests of both containers.
        resources: both({ cpu: '500m', memory: '512Mi' }),
      },
      headGroupSpec: {
        rayStartParams: {
          // No work on the head, because if it ran out of memory, all jobs would be lost.
          'num-cpus': '0',
          'dashboard-host': '0.0.0.0',
        },
        template: { spec: podOf(spec, spec.head, 'ray-head') },
      },
      workerGroupSpecs: workers.map((group) => ({
        groupName: group.name,
        replicas: group.minReplicas,
        minReplicas: group.minReplicas,
        // KubeRay's default is about 2 billion.
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
      // Nodes labeled for Ray often have a taint with the same name.
      { key: `${labelDomain}/${kind}`, operator: 'Exists' },
      ...(gpu > 0 ? [{ key: gpuResource, operator: 'Exists' }] : []),
    ],
    containers: [
      {
        name: container,
        image: group.image,
        // Requests equal limits, because with smaller requests, a pod may start on a node that lacks memory, and be
        // killed later.
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
