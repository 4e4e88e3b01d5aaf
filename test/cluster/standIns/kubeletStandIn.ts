import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { endGroup, trackProcessGroup } from '../../../scripts/processes.ts';
import type { KubeObject } from '../parts/kubeApi.ts';
import type { KubeCluster } from '../parts/kubeCluster.ts';

export type KubeletOptions = {
  readonly cluster: KubeCluster;
  /** The node of this kubelet. */
  readonly node: KubeObject;
  /** Environment variables with the addresses of the stand-ins. They replace variables of a container. */
  readonly environment: Readonly<Record<string, string>>;
};

type Started = { readonly child: ChildProcess; readonly said: string[]; ended: boolean; isEnding: boolean };

/**
 * Stands in for the scheduler and the kubelet of a node, which the tests' Kubernetes API lacks. Assigns pods to its
 * node. Runs the command of each pod as a process of this machine, without the pod's image. Reports status and output
 * to the API server, and ends the process when the pod is deleted.
 */
export class KubeletStandIn {
  /** How new pods behave. */
  behaviour: 'runs' | 'finds no image' = 'runs';
  readonly #options: KubeletOptions;
  readonly #server: Server;
  readonly #started = new Map<string, Started>();
  #stopped = false;
  #loop: Promise<void> = Promise.resolve();

  private constructor(options: KubeletOptions, server: Server) {
    this.#options = options;
    this.#server = server;
  }

  static async start(options: KubeletOptions): Promise<KubeletStandIn> {
    const { cluster, node } = options;
    const { cert, key } = cluster.pki.server(`kubelet-${node.metadata.name}`);
    const server = createServer({ cert: readFileSync(cert), key: readFileSync(key) });
    const kubelet = new KubeletStandIn(options, server);
    server.on('request', ({ url = '' }, response) => {
      const [, name = ''] = /^\/containerLogs\/[^/]+\/([^/]+)\//.exec(url) ?? [];
      const started = kubelet.#started.get(name);
      response.statusCode = started ? 200 : 404;
      response.end(started?.said.join(''));
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    await kubelet.announce();
    kubelet.#loop = kubelet.#watch();
    return kubelet;
  }

  /** Writes the address of this kubelet to the node's status. Call it again after the node was restored. */
  announce(): Promise<void> {
    const { port } = this.#server.address() as AddressInfo;
    return this.#setNode({
      addresses: [{ type: 'InternalIP', address: '127.0.0.1' }],
      daemonEndpoints: { kubeletEndpoint: { Port: port } },
    });
  }

  /** The running pods of this node. */
  get running(): readonly string[] {
    return [...this.#started].filter(([, { ended }]) => !ended).map(([name]) => name);
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#loop;
    for (const { child, ended } of this.#started.values()) if (!ended) await endGroup(child);
    await this.#setNode({ addresses: null, daemonEndpoints: null });
    this.#server.closeAllConnections();
    await once(this.#server.close(), 'close');
  }

  #setNode(status: Readonly<Record<string, unknown>>): Promise<void> {
    const { cluster, node } = this.#options;
    return cluster.api.setStatus({ apiVersion: 'v1', kind: 'Node', metadata: { name: node.metadata.name }, status });
  }

  async #watch(): Promise<void> {
    const { api } = this.#options.cluster;
    while (!this.#stopped) {
      const pods = await api.list('v1', 'Pod');
      for (const pod of pods.filter(({ metadata }) => metadata.labels?.['app.kubernetes.io/name'] === 'identity-probe'))
        await this.#see(pod);
      await pause(50);
    }
  }

  async #see(pod: KubeObject): Promise<void> {
    const { api } = this.#options.cluster;
    const { name } = pod.metadata;
    const started = this.#started.get(name);
    if (pod.metadata['deletionTimestamp'] !== undefined) {
      if (started?.ended === false) this.#end(started, Number(pod.metadata['deletionGracePeriodSeconds']));
      else await api.delete(pod);
      return;
    }
    // Only the command of a pod can be run, because images are not supported here.
    const canRun = pod['spec'].containers[0].command !== undefined;
    const isNew =
      canRun && started === undefined && pod['status'].phase === 'Pending' && !pod['status'].conditions?.length;
    if (isNew) await this.#begin(pod);
    else if (started?.ended && pod['status'].phase === 'Running') {
      const isFine = started.child.exitCode === 0;
      await this.#report(pod, isFine ? 'Succeeded' : 'Failed', { terminated: { exitCode: isFine ? 0 : 1 } });
    }
  }

  /** Sends SIGTERM, then SIGKILL after the given time. */
  #end(started: Started, seconds: number): void {
    if (started.isEnding) return;
    started.isEnding = true;
    started.child.kill('SIGTERM');
    const timer = setTimeout(() => void endGroup(started.child), seconds * 1000);
    started.child.once('close', () => clearTimeout(timer));
  }

  async #begin(pod: KubeObject): Promise<void> {
    const { cluster, node } = this.#options;
    const conditions = [{ type: 'PodScheduled', status: 'True' }];
    await cluster.api.ask('POST', `${await cluster.api.pathOf(pod)}/binding`, {
      apiVersion: 'v1',
      kind: 'Binding',
      metadata: { name: pod.metadata.name },
      target: { apiVersion: 'v1', kind: 'Node', name: node.metadata.name },
    });
    if (this.behaviour === 'finds no image') {
      await this.#report(pod, 'Pending', { waiting: { reason: 'ErrImagePull', message: 'no such host' } }, conditions);
      return;
    }
    this.#run(pod);
    await this.#report(pod, 'Running', { running: {} }, conditions);
  }

  /**
   * Uses a separate process group, so that the child processes of the shell end with the shell. SIGTERM is sent to the
   * shell only, as in a container.
   */
  #run(pod: KubeObject): void {
    const [container] = pod['spec'].containers as { command: string[]; env: { name: string; value: string }[] }[];
    const [program = '', ...words] = container?.command ?? [];
    const own = Object.fromEntries((container?.env ?? []).map(({ name, value }) => [name, value]));
    const child = spawn(program, words, {
      env: { PATH: '/usr/bin:/bin', ...own, ...this.#options.environment },
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
    });
    trackProcessGroup(child);
    const started: Started = { child, said: [], ended: false, isEnding: false };
    for (const stream of [child.stdout, child.stderr]) stream?.on('data', (chunk) => started.said.push(String(chunk)));
    child.once('close', () => (started.ended = true));
    this.#started.set(pod.metadata.name, started);
  }

  #report(pod: KubeObject, phase: string, state: object, conditions: readonly object[] = []): Promise<void> {
    const [{ name, image }] = pod['spec'].containers as [{ name: string; image: string }];
    const container = { name, image, imageID: '', ready: false, restartCount: 0, state };
    const more = conditions.length > 0 ? { conditions } : {};
    return this.#options.cluster.api.setStatus({ ...pod, status: { phase, containerStatuses: [container], ...more } });
  }
}
