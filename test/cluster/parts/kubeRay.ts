import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { freePorts } from '../../harness/freePorts.ts';
import { schedulerProgram } from '../../harness/needs/kubeNeeds.ts';
import { kwokProgram, kwokStages, operatorProgram, type OperatorVersion } from '../../harness/needs/kuberayNeeds.ts';
import { type ForwardTarget, startForwardTarget } from './forwardTarget.ts';
import type { KubeObject } from './kubeApi.ts';
import type { KubeCluster } from './kubeCluster.ts';
import { type Running, startServer, until } from './processes.ts';
import { names } from './sound/names.ts';
import { rights } from './sound/rights.ts';

/**
 * KubeRay on a cluster of this machine. The operator and the scheduler are real. Nodes and pods are simulated: kwok
 * reports them as ready and running, but nothing runs in them. `head` forwards the port of Ray's dashboard in a pod to
 * any server.
 */
export type KubeRay = {
  readonly cluster: KubeCluster;
  /** Sets the server to which the head's dashboard port forwards. */
  readonly head: ForwardTarget;
  /** Removes all RayClusters, their pods, and the changes of tests to nodes and quotas. */
  clear(): Promise<void>;
  stop(): Promise<void>;
};

const dashboard = 8265;
/** Maximum number of restarts of kwok. */
const maxRestarts = 3;

/** Starts KubeRay in a few seconds on an empty cluster. */
export async function startKubeRay(cluster: KubeCluster, version: OperatorVersion): Promise<KubeRay> {
  const { api } = cluster;
  await api.defineVersion(version, 'rayclusters', 'rayjobs', 'rayservices');
  if (version === '1.6.1') await api.defineVersion(version, 'raycronjobs');
  await api.apply(...rights, ...nodes, operatorDeployment(version));
  const head = await startForwardTarget();
  const kubeconfig = cluster.kubeconfig('admin');
  const running = [
    startScheduler(cluster, kubeconfig),
    await startKwok(cluster, kubeconfig, head.port),
    startOperator(cluster, kubeconfig, version),
  ];
  const stop = async (): Promise<void> => {
    for (const one of running.toReversed()) await one.stop();
    await head.stop();
  };
  let restarts = 0;
  /** Starts kwok again if it has crashed: while kwok starts, two of its own parts sometimes write to one map. */
  const restartKwok = async (): Promise<void> => {
    const kwok = running[1];
    if (!kwok?.isOver() || restarts === maxRestarts || !kwok.said().includes('concurrent map writes')) return;
    restarts++;
    running[1] = await startKwok(cluster, kubeconfig, head.port);
  };
  const isReady = async (): Promise<boolean> => {
    await restartKwok();
    return areNodesReady(cluster);
  };
  try {
    await until('Nodes that are ready', isReady, {
      giveUp: () => running.some((one) => one.isOver()),
      told: () => running.map((one) => one.said()).join('\n'),
    });
  } catch (error) {
    await stop();
    throw error;
  }
  return { cluster, head, clear: () => clear(cluster), stop };
}

/** Nodes without a status; kwok sets it. */
const nodes: readonly KubeObject[] = (
  [
    ['n-head', 'ray-head'],
    ['n-cpu', 'ray-worker-cpu'],
  ] as const
).map(([name, part]) => ({
  apiVersion: 'v1',
  kind: 'Node',
  metadata: {
    name,
    labels: { [`${names.labelDomain}/${part}`]: 'true', 'kubernetes.io/hostname': name, 'kubernetes.io/arch': 'amd64' },
  },
  // Reserve the node for one kind of pods, as users do.
  spec: { taints: [{ key: `${names.labelDomain}/${part}`, value: 'true', effect: 'NoSchedule' }] },
  status: {
    allocatable: { cpu: '16', memory: '64Gi', pods: '110' },
    capacity: { cpu: '16', memory: '64Gi', pods: '110' },
  },
}));

/** The operator's Deployment as its chart creates it. Here the operator is a process outside of the cluster. */
const operatorDeployment = (version: OperatorVersion): KubeObject => {
  const labels = { 'app.kubernetes.io/name': 'kuberay-operator', 'app.kubernetes.io/component': 'kuberay-operator' };
  const image = `quay.io/kuberay/operator:v${version}`;
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: names.operator, namespace: names.namespace, labels },
    spec: {
      replicas: 1,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers: [{ name: 'kuberay-operator', image }] } },
    },
    status: {
      observedGeneration: 1,
      replicas: 1,
      updatedReplicas: 1,
      readyReplicas: 1,
      availableReplicas: 1,
      conditions: [{ type: 'Available', status: 'True', reason: 'MinimumReplicasAvailable', message: 'ready' }],
    },
  };
};

function startScheduler({ folder }: KubeCluster, kubeconfig: string): Running {
  const args = [`--kubeconfig=${kubeconfig}`, '--leader-elect=false', '--secure-port=0'];
  return startServer(schedulerProgram(), args, join(folder, 'scheduler.log'));
}

function startOperator({ folder }: KubeCluster, kubeconfig: string, version: OperatorVersion): Running {
  const args = [
    `-kubeconfig=${kubeconfig}`,
    '-enable-leader-election=false',
    '-metrics-addr=0',
    '-health-probe-bind-address=0',
    '-log-stdout-encoder=console',
  ];
  return startServer(operatorProgram(version), args, join(folder, 'operator.log'));
}

async function startKwok({ folder, pki }: KubeCluster, kubeconfig: string, target: number): Promise<Running> {
  const [port = 0] = await freePorts(1);
  const { cert, key } = pki.server('kwok');
  const forward = join(folder, 'kwok-forward.yaml');
  const spec = { forwards: [{ ports: [dashboard], target: { address: '127.0.0.1', port: target } }] };
  const kind = { apiVersion: 'kwok.x-k8s.io/v1alpha1', kind: 'ClusterPortForward' };
  writeFileSync(forward, JSON.stringify({ ...kind, metadata: { name: 'all' }, spec }));
  const configs = [forward, ...readdirSync(kwokStages).map((name) => join(kwokStages, name))];
  const args = [
    `--kubeconfig=${kubeconfig}`,
    '--manage-all-nodes=true',
    ...configs.map((config) => `--config=${config}`),
    '--node-ip=127.0.0.1',
    '--node-name=localhost',
    `--node-port=${port}`,
    `--server-address=127.0.0.1:${port}`,
    `--tls-cert-file=${cert}`,
    `--tls-private-key-file=${key}`,
    '--cidr=10.9.0.0/24',
  ];
  return startServer(kwokProgram(), args, join(folder, 'kwok.log'));
}

async function areNodesReady({ api }: KubeCluster): Promise<boolean> {
  const list = await api.list('v1', 'Node');
  return list.every((node) => {
    const status = node['status'] as { readonly conditions?: readonly { type: string; status: string }[] } | undefined;
    return status?.conditions?.some(({ type, status: is }) => type === 'Ready' && is === 'True') ?? false;
  });
}

/** The test cluster has no garbage collector, so objects that belonged to a RayCluster are deleted explicitly. */
async function clear({ api }: KubeCluster): Promise<void> {
  const kinds = [
    ['ray.io/v1', 'RayCluster'],
    ['v1', 'ResourceQuota'],
    ['v1', 'Pod'],
    ['v1', 'Service'],
    ['v1', 'Event'],
  ] as const;
  for (const [apiVersion, kind] of kinds) {
    const found = (await api.list(apiVersion, kind)).filter(({ metadata }) => metadata.namespace === names.namespace);
    await api.delete(...found);
  }
  await api.apply(...nodes);
}
