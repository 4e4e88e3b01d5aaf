import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import { ClusterError, isClusterError } from '#cluster/errors.ts';
import { listAt, textAt } from '#cluster/kube/fields.ts';
import type { KubeConnection } from '#cluster/kube/kubeConnection.ts';
import { connectionErrorOf, errorOfReply } from '#cluster/kube/kubeErrors.ts';
import { messageOf } from '#shared/errors.ts';
import { loadPart } from '#shared/loadPart.ts';
import { rayPorts } from './rayClusterObject.ts';
import { type RayClusterName, rayPodsPath } from './rayClusterState.ts';
import { readRayPod } from './rayPods.ts';

/** Milliseconds between signs of life: gateways in between cut what is silent, and who is gone says no word. */
const heartbeat = 25_000;

type PodPort = { readonly namespace: string; readonly pod: string; readonly port: number };

type StreamOptions = {
  /** Ends the stream. */
  readonly signal: AbortSignal;
  /** What the node says where nobody listens at that port of the pod; the stream is at its end then. */
  readonly onProblem: (said: string) => void;
};

/**
 * Ties a connection, of which nothing was read yet, to a port of a pod: resolves when the API server has let it through.
 * From then on either end of it ends the other.
 * @throws ClusterError for what keeps the stream from being opened: NotFound for a pod that is gone, Forbidden …
 */
async function openPodStream(
  connection: KubeConnection,
  { namespace, pod, port }: PodPort,
  socket: Socket,
  { signal, onProblem }: StreamOptions,
): Promise<void> {
  const { PortForward } = await loadPart(() => import('#cluster/kube/kubeClient.ts'));
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
  // With no number of retries it is the stream itself.
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
    // What has come is still handed over.
    socket.end();
  });
  socket.once('close', end);
  if (signal.aborted || socket.destroyed) end();
  else socket.resume();
}

/** The client rejects with the event of the web socket, which has the error, and the status in its words alone. */
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

/** Milliseconds that a connection waits for a head that is being replaced, or an API server that is away for a moment. */
const patience = 20_000;
/** Milliseconds before it is tried again, and the most that they grow to. */
const pauses = { first: 100, most: 2_000 };
/** Milliseconds for which the head's pod is taken to be the one that was found. */
const podAge = 5_000;

type HeadForwardOptions = {
  readonly connection: KubeConnection;
  readonly rayCluster: RayClusterName;
  /** Told why no connection could be made, each time that one is given up. */
  readonly onProblem?: ((problem: ClusterError) => void) | undefined;
};

/**
 * A way to the head of a RayCluster through the API server, as `kubectl port-forward` makes one: a socket of this machine,
 * and for each connection to it a stream of its own to the pod that is the head then. So nothing has to be re-established
 * when a stream drops, or the head comes back as another pod: the next connection finds it.
 *
 * It is a Unix socket in a folder of the person alone (a named pipe on Windows), and not a port: what reaches a Ray runs
 * programs on it, and ports of the loopback address are open to everybody on a machine.
 */
export class HeadForward implements AsyncDisposable {
  readonly #options: HeadForwardOptions;
  readonly #server: Server;
  readonly #folder: string | undefined;
  readonly #ended = new AbortController();
  readonly #open = new Set<Socket>();
  #pod: { readonly name: string; readonly until: number } | undefined;
  /** What connections are made to. */
  readonly socketPath: string;

  private constructor(
    options: HeadForwardOptions,
    place: { readonly path: string; readonly folder: string | undefined },
  ) {
    this.#options = options;
    this.socketPath = place.path;
    this.#folder = place.folder;
    // Nothing is read before there is somewhere to send it.
    this.#server = createServer({ pauseOnConnect: true, noDelay: true }, (socket) => void this.#serve(socket));
  }

  /** Listens; asks nothing of the cluster before somebody connects. */
  static async open(options: HeadForwardOptions): Promise<HeadForward> {
    const forward = new HeadForward(options, await makePlace());
    try {
      forward.#server.listen(forward.socketPath);
      await once(forward.#server, 'listening');
      return forward;
    } catch (error) {
      // Its folder is nobody's yet.
      await forward[Symbol.asyncDispose]();
      throw error;
    }
  }

  /** Ends all connections. */
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
    // Who connects is told by the end of the connection alone, as with any server that goes away.
    socket.on('error', () => {});
    try {
      await this.#connect(socket, AbortSignal.any([gone.signal, this.#ended.signal]));
    } catch (error) {
      socket.destroy();
      if (!gone.signal.aborted && !this.#ended.signal.aborted) this.#options.onProblem?.(clusterErrorOf(error));
    }
  }

  /** Tries until there is a stream, for as long as who connects may be made to wait. */
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
        // It may be another one by now.
        this.#pod = undefined;
        if (signal.aborted || isLasting(error) || Date.now() + wait > until) throw error;
        await pause(wait, undefined, { signal });
      }
    }
  }

  async #findPod(signal: AbortSignal): Promise<string> {
    if (this.#pod && this.#pod.until > Date.now()) return this.#pod.name;
    const { connection, rayCluster } = this.#options;
    const { body } = await connection.request({ method: 'GET', path: rayPodsPath(rayCluster, 'head') }, signal);
    const heads = listAt(body, 'items').filter((item) => textAt(item, 'status', 'phase') === 'Running');
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

/** What waiting does not change. */
export const isLasting = (error: unknown): boolean =>
  isClusterError(error) && !error.isTransient && error.kind !== 'NotFound' && error.kind !== 'Conflict';

const clusterErrorOf = (error: unknown): ClusterError =>
  isClusterError(error)
    ? error
    : new ClusterError('Unavailable', `Can't connect to the head: ${messageOf(error)}.`, 'Try again.', {
        cause: error,
      });

async function makePlace(): Promise<{ readonly path: string; readonly folder: string | undefined }> {
  if (process.platform === 'win32') return { path: `\\\\.\\pipe\\lance-ray-${randomUUID()}`, folder: undefined };
  // mkdtemp makes it 0700. A socket's path is limited to about 100 bytes, so the names are short.
  const folder = await mkdtemp(join(tmpdir(), 'lance-ray-'));
  return { path: join(folder, 's'), folder };
}
