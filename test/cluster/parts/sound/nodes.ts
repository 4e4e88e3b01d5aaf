import type { KubeObject } from '../kubeApi.ts';
import { names } from './names.ts';

type Size = { cpu: string; memory: string; gpus?: string };

/** Returns a ready node, as its kubelet would report it. */
function nodeOf(name: string, part: string, { cpu, memory, gpus }: Size, taints: Record<string, string>[]): KubeObject {
  const room = { cpu, memory, pods: '110', ...(gpus !== undefined && { 'nvidia.com/gpu': gpus }) };
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: {
      name,
      labels: {
        [`${names.labelDomain}/${part}`]: 'true',
        'kubernetes.io/hostname': name,
        'kubernetes.io/arch': 'amd64',
        'kubernetes.io/os': 'linux',
        'eks.amazonaws.com/capacityType': 'ON_DEMAND',
      },
    },
    ...(taints.length > 0 && { spec: { taints } }),
    status: {
      capacity: room,
      allocatable: room,
      conditions: [
        { type: 'Ready', status: 'True', reason: 'KubeletReady', message: 'kubelet is posting ready status' },
      ],
      nodeInfo: {
        architecture: 'amd64',
        operatingSystem: 'linux',
        kernelVersion: '6.1.0',
        osImage: 'Linux',
        containerRuntimeVersion: 'containerd://1.7.0',
        kubeletVersion: 'v1.30.14',
        kubeProxyVersion: 'v1.30.14',
        machineID: name,
        systemUUID: name,
        bootID: name,
      },
    },
  };
}

/** One node reserved for the head, one for workers, and one for workers with GPUs. */
export const nodes: readonly KubeObject[] = [
  nodeOf(names.nodes.head, 'ray-head', { cpu: '8', memory: '32Gi' }, [
    { key: `${names.labelDomain}/ray-head`, value: 'true', effect: 'NoSchedule' },
  ]),
  nodeOf(names.nodes.cpu, 'ray-worker-cpu', { cpu: '15890m', memory: '62000Mi' }, []),
  nodeOf(names.nodes.gpu, 'ray-worker-gpu', { cpu: '32', memory: '128Gi', gpus: '4' }, [
    { key: 'nvidia.com/gpu', value: 'present', effect: 'NoSchedule' },
  ]),
];
