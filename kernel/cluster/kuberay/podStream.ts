import type { Socket } from 'node:net';
import { Writable } from 'node:stream';
import { ClusterError } from '#cluster/errors.ts';
import type { KubeConnection } from '#cluster/kube/kubeConnection.ts';
import { connectionErrorOf } from '#cluster/kube/kubeConnectionErrors.ts';
import { errorOfReply } from '#cluster/kube/kubeErrors.ts';
import { loadPart } from '#shared/loadPart.ts';

/** Milliseconds between signs of life: gateways in between cut what is silent, and who is gone says no word. */
const heartbeat = 25_000;

export type PodPort = { readonly namespace: string; readonly pod: string; readonly port: number };

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
export async function openPodStream(
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
  if (typeof opened === 'function') throw new Error('The Kubernetes client gave no stream.');
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
    return new ClusterError('NotFound', `There is no ${what} any more.`, 'Try again.', { cause: error, status });
  if (status === 403)
    return new ClusterError(
      'Forbidden',
      `You may not forward ${what}.`,
      'It takes the verbs create and get on pods/portforward: older clusters ask for the one, newer ones for the other.',
      { cause: error, status },
    );
  if (!Number.isNaN(status)) return errorOfReply(`Forwarding ${what}`, status, undefined, error);
  return (
    connectionErrorOf(error, `The API server ${server}`) ??
    new ClusterError('Unavailable', `Forwarding ${what} failed: ${message}.`, 'Try again.', { cause: error })
  );
}
