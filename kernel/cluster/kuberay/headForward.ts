import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { rm } from 'node:fs/promises';
import { createServer, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import { ClusterError, isClusterError } from '#cluster/errors.ts';
import { listAt, stringAt } from '#shared/fields.ts';
import type { KubeConnection } from '#cluster/kube/kubeConnection.ts';
import { connectionErrorOf, errorOfReply } from '#cluster/kube/kubeErrors.ts';
import { createTempFolder } from '#processes/files.ts';
import { messageOf } from '#shared/errors.ts';
import { loadLazy } from '#shared/loadLazy.ts';
import { rayPorts } from './rayClusterObject.ts';
import { type RayClusterName, rayPodsPath } from './rayClusterState.ts';
import { readRayPod } from './rayPods.ts';

/** Milliseconds between pings: gateways close idle connections, and a dead peer sends nothing. */
const heartbeat = 25_000;

type PodPort = { readonly namespace: string; readonly pod: string; readonly port: number };

type StreamOptions = {
  /** Ends the stream. */
  readonly signal: AbortSignal;
  /** Receives the node's message if no process listens on the pod's port; the stream has ended then. */
  readonly onProblem: (said: string) => void;
};

/**
 * Connects a socket to a port of a pod. Nothing may have been read from the socket yet. Resolves when the API server
 * has accepted the stream. From then on, the end of either side closes the other.
 * @throws ClusterError if the stream can't be opened: NotFound if the pod no longer exists, Forbidden …
 */
async function openPodStream(
  connection: KubeConnection,
  { namespace, pod, port }: PodPort,
  socket: Socket,
  { signal, onProblem }: StreamOptions,
): Promise<void> {
  const { PortForward } = await loadLazy(() => import('#cluster/kube/kubeClient.ts'));
  signal.throwIfAborted();
  const what = `port ${port} of the pod ${namespace}/${pod}`;
  const said = new Writable({
    write: (chunk: Buffer, _encoding, done) => {
      const text = chunk.toString().trim();
      if (text !== '') onProblem(text);
      done();
    },
  });
  const forward = new PortForward(await connection.kubeConfig(signal));
  const opened = await forward.portForward(namespace, pod, [port], socket, said, socket).catch((error: unknown) => {
    throw errorOf(error, what, connection.server);
  });
  // Without a retry count, the client returns the web socket itself.
  if (typeof opened === 'function') throw new Error('The Kubernetes client returned no stream.');
  const end = (): void => opened.close();
  let isAlive = true;
  const timer = setInterval(() => {
    if (!isAlive) return opened.terminate();
    isAlive = false;
    opened.ping();
  }, heartbeat).unref();
  opened.on('pong', () => (isAlive = true));
  opened.on('close', () => {
    clearInterval(timer);
    // Data that was received is still delivered.
    socket.end();
  });
  socket.once('close', end);
  if (signal.aborted || socket.destroyed) end();
  else socket.resume();
}

/**
 * Converts the value that the client rejects with: a WebSocket event that contains the error. Only the error's message
 * has the HTTP status.
 */
function errorOf(event: unknown, what: string, server: string): ClusterError {
  const error = event instanceof Error ? event : (event as { readonly error?: unknown }).error;
  const message = error instanceof Error ? error.message : String(error);
  const status = Number(/^Unexpected server response: (\d{3})$/.exec(message)?.[1]);
  if (status === 404)
    return new ClusterError('NotFound', `Can't forward ${what}: the pod no longer exists.`, 'Try again.', {
      cause: error,
      status,
    });
  if (status === 403)
    return new ClusterError(
      'Forbidden',
      `Can't forward ${what}: permission denied.`,
      'Ask an administrator for the verbs create and get on pods/portforward: older clusters require one of them, newer ones the other.',
      { cause: error, status },
    );
  if (!Number.isNaN(status)) return errorOfReply(`Forwarding ${what}`, status, undefined, error);
  return (
    connectionErrorOf(error, `The API server ${server}`) ??
    new ClusterError('Unavailable', `Can't forward ${what}: ${message}.`, 'Try again.', { cause: error })
  );
}

/** Milliseconds to retry a connection while the head is replaced or the API server is away. */
const patience = 20_000;
/** Milliseconds before a retry, first and at most. */
const pauses = { first: 100, most: 2_000 };
/** Milliseconds for which the head's pod is cached. */
const podAge = 5_000;

type HeadForwardOptions = {
  readonly connection: KubeConnection;
  readonly rayCluster: RayClusterName;
  /** Receives the reason each time that a connection fails. */
  readonly onProblem?: ((problem: ClusterError) => void) | undefined;
};

/**
 * Forwards connections to the head of a RayCluster through the API server, like `kubectl port-forward`. Each connection
 * to the local socket gets its own stream to the current head pod. So a dropped stream or a new head needs no special
 * handling: the next connection uses the current pod.
 *
 * The local end is a Unix socket in a private folder (a named pipe on Windows), not a port. Every user of the machine
 * could connect to a loopback port, and clients can run programs on Ray.
 */
export class HeadForward implements AsyncDisposable {
  readonly #options: HeadForwardOptions;
  readonly #server: Server;
  readonly #folder: string | undefined;
  readonly #ended = new AbortController();
  readonly #open = new Set<Socket>();
  #pod: { readonly name: string; readonly until: number } | undefined;
  /** The socket or pipe to connect to. */
  readonly socketPath: string;

  private constructor(
    options: HeadForwardOptions,
    place: { readonly path: string; readonly folder: string | undefined },
  ) {
    this.#options = options;
    this.socketPath = place.path;
    this.#folder = place.folder;
    // Reads nothing before the stream to the pod is open.
    this.#server = createServer({ pauseOnConnect: true, noDelay: true }, (socket) => void this.#serve(socket));
  }

  /** Listens. Sends nothing to the cluster before the first connection. */
  static async open(options: HeadForwardOptions): Promise<HeadForward> {
    const forward = new HeadForward(options, await makePlace());
    try {
      forward.#server.listen(forward.socketPath);
      await once(forward.#server, 'listening');
      return forward;
    } catch (error) {
      // No caller has the forward yet, so it is disposed of here. This removes the folder.
      await forward[Symbol.asyncDispose]();
      throw error;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#ended.abort();
    for (const socket of this.#open) socket.destroy();
    if (this.#server.listening) await once(this.#server.close(), 'close');
    if (this.#folder !== undefined) await rm(this.#folder, { recursive: true, force: true });
  }

  async #serve(socket: Socket): Promise<void> {
    this.#open.add(socket);
    const gone = new AbortController();
    socket.once('close', () => {
      this.#open.delete(socket);
      gone.abort();
    });
    // The error is ignored, because the client notices the close of its connection, as with any server.
    socket.on('error', () => {});
    try {
      await this.#connect(socket, AbortSignal.any([gone.signal, this.#ended.signal]));
    } catch (error) {
      socket.destroy();
      if (!gone.signal.aborted && !this.#ended.signal.aborted) this.#options.onProblem?.(clusterErrorOf(error));
    }
  }

  /** Retries until a stream is open, at most for `patience`. */
  async #connect(socket: Socket, signal: AbortSignal): Promise<void> {
    const { connection, rayCluster } = this.#options;
    const until = Date.now() + patience;
    for (let wait = pauses.first; ; wait = Math.min(2 * wait, pauses.most)) {
      try {
        const pod = await this.#findPod(signal);
        await openPodStream(connection, { namespace: rayCluster.namespace, pod, port: rayPorts.dashboard }, socket, {
          signal,
          onProblem: (said) => {
            this.#pod = undefined;
            const problem = `The head of RayCluster "${rayCluster.name}" accepted no connection: ${said}`;
            this.#options.onProblem?.(new ClusterError('Unavailable', problem, 'Check the log of the head pod.'));
          },
        });
        return;
      } catch (error) {
        // Forgets the pod, because the head may be another pod now.
        this.#pod = undefined;
        if (signal.aborted || isPermanent(error) || Date.now() + wait > until) throw error;
        await pause(wait, undefined, { signal });
      }
    }
  }

  async #findPod(signal: AbortSignal): Promise<string> {
    if (this.#pod && this.#pod.until > Date.now()) return this.#pod.name;
    const { connection, rayCluster } = this.#options;
    const { body } = await connection.request({ method: 'GET', path: rayPodsPath(rayCluster, 'head') }, signal);
    const heads = listAt(body, 'items').filter((item) => stringAt(item, 'status', 'phase') === 'Running');
    const pods = heads.flatMap((item) => readRayPod(item) ?? []).filter(({ state }) => state !== 'ending');
    const head = pods.find(({ state }) => state === 'ready') ?? pods[0];
    if (!head)
      throw new ClusterError(
        'Unavailable',
        `RayCluster "${rayCluster.namespace}/${rayCluster.name}" has no running head pod.`,
        'Wait until it is back, or check its pods.',
      );
    this.#pod = { name: head.name, until: Date.now() + podAge };
    return head.name;
  }
}

/** Returns whether an error persists, so that waiting does not help. */
export const isPermanent = (error: unknown): boolean =>
  isClusterError(error) && !error.isTransient && error.kind !== 'NotFound' && error.kind !== 'Conflict';

const clusterErrorOf = (error: unknown): ClusterError =>
  isClusterError(error)
    ? error
    : new ClusterError('Unavailable', `Can't connect to the head: ${messageOf(error)}.`, 'Try again.', {
        cause: error,
      });

async function makePlace(): Promise<{ readonly path: string; readonly folder: string | undefined }> {
  if (process.platform === 'win32') return { path: `\\\\.\\pipe\\lance-ray-${randomUUID()}`, folder: undefined };
  const folder = await createTempFolder('ray');
  return { path: join(folder, 's'), folder };
}
