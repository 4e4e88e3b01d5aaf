import { ClusterError } from '#cluster/errors.ts';
import { connectKube } from '#cluster/kube/connectKube.ts';
import { fieldAt, stringAt } from '#shared/fields.ts';
import type { KubeConnection } from '#cluster/kube/kubeConnection.ts';
import type { ClusterProfile } from '#cluster/profile.ts';
import type { RayLink, RayTarget } from '#cluster/ray/rayRequest.ts';
import { SecretRedactor } from '#cluster/secretTexts.ts';
import { HeadForward } from './headForward.ts';
import { rayPorts } from './rayClusterObject.ts';
import { findRayCluster, type RayClusterName } from './rayClusterState.ts';

/**
 * Reads the token for Ray on a RayCluster with token authentication (`authOptions`, since KubeRay 1.5). The operator
 * keeps the token in a secret. By default, the secret has the name of the cluster.
 * @param object the RayCluster as received from the API server
 * @returns `undefined` if Ray needs no token
 * @throws ClusterError Forbidden if the user may not read the secret
 */
async function readRayToken(
  connection: KubeConnection,
  { namespace, name }: RayClusterName,
  object: unknown,
  { hidden, signal }: { readonly hidden: SecretRedactor; readonly signal: AbortSignal },
): Promise<string | undefined> {
  const options = fieldAt(object, 'spec', 'authOptions');
  if (stringAt(options, 'mode') !== 'token') return undefined;
  if (fieldAt(options, 'enableK8sTokenAuth') === true)
    throw new ClusterError(
      'CredentialsMissing',
      `Can't sign in to Ray on RayCluster "${namespace}/${name}": it requires Kubernetes tokens (enableK8sTokenAuth), which are not supported.`,
      'Forward its port yourself and connect to that address with a token of a service account.',
    );
  const secret = stringAt(options, 'secretName') ?? name;
  const path = `/api/v1/namespaces/${encodeURIComponent(namespace)}/secrets/${encodeURIComponent(secret)}`;
  const { body } = await connection.request({ method: 'GET', path }, signal);
  const encoded = stringAt(body, 'data', 'auth_token');
  if (encoded === undefined)
    throw new ClusterError(
      'CredentialsMissing',
      `Secret "${namespace}/${secret}" has no auth_token for RayCluster "${name}".`,
      'Wait until the operator has created it, or add one.',
    );
  const token = Buffer.from(encoded, 'base64').toString('utf8').trim();
  hidden.add(token);
  return token;
}

export type OpenRayLinkOptions = {
  /** Name of the RayCluster. Default: the RayCluster that the profile names. */
  readonly rayCluster?: string | undefined;
  /** Cancels the opening only; the caller closes the open link. */
  readonly signal: AbortSignal;
  /** Receives the reason each time that no connection to the head is possible. */
  readonly onProblem?: ((problem: ClusterError) => void) | undefined;
};

/**
 * Connects to Ray on an existing RayCluster. Sends nothing to Ray yet. The connection goes through the API server, or
 * to Ray's service if the profile does not use port forwarding.
 * @throws ClusterError NotFound if the RayCluster does not exist, and as `connectKube`
 */
export async function openRayLink(profile: ClusterProfile, options: OpenRayLinkOptions): Promise<RayLink> {
  const name = options.rayCluster ?? profile.rayCluster;
  if (name === undefined)
    throw new ClusterError(
      'ProfileInvalid',
      `The profile "${profile.name}" does not name a RayCluster.`,
      'Add "rayCluster" to the profile, or name a RayCluster.',
    );
  const opened = await openConnection(profile, options.signal);
  try {
    const rayCluster = { namespace: profile.namespace, name };
    const target = await openTarget(opened, profile, rayCluster, options);
    return { target, signal: opened.ended.signal, [Symbol.asyncDispose]: () => opened.close() };
  } catch (error) {
    await opened.close();
    throw error;
  }
}

/** A connection and everything opened over it, until it is closed. */
export type OpenedConnection = {
  readonly connection: KubeConnection;
  readonly hidden: SecretRedactor;
  /** Aborts when the connection is closed. */
  readonly ended: AbortController;
  /** Adds a part to dispose of before the connection. */
  own(part: AsyncDisposable): void;
  close(): Promise<void>;
};

/** Connects with credentials that are renewed until the close; `signal` cancels only the opening. */
export async function openConnection(profile: ClusterProfile, signal: AbortSignal): Promise<OpenedConnection> {
  signal.throwIfAborted();
  const ended = new AbortController();
  const stop = (): void => ended.abort(signal.reason);
  signal.addEventListener('abort', stop, { once: true });
  const hidden = new SecretRedactor();
  try {
    const connection = await connectKube(profile.auth, { hidden, signal: ended.signal });
    const parts: AsyncDisposable[] = [];
    let closing: Promise<void> | undefined;
    const close = async (): Promise<void> => {
      ended.abort();
      for (const part of parts.toReversed()) await part[Symbol.asyncDispose]();
      await connection.close();
    };
    return { connection, hidden, ended, own: (part) => parts.push(part), close: () => (closing ??= close()) };
  } finally {
    signal.removeEventListener('abort', stop);
  }
}

/** Opens the path to Ray on a RayCluster. Closing `opened` also closes this path. @throws ClusterError */
export async function openTarget(
  opened: OpenedConnection,
  { usePortForwarding }: Pick<ClusterProfile, 'usePortForwarding'>,
  rayCluster: RayClusterName,
  { signal, onProblem }: Pick<OpenRayLinkOptions, 'signal' | 'onProblem'>,
): Promise<RayTarget> {
  const { connection, hidden } = opened;
  const object = await findRayCluster(connection, rayCluster, signal);
  const title = `${rayCluster.namespace}/${rayCluster.name}`;
  if (object === undefined)
    throw new ClusterError('NotFound', `RayCluster "${title}" does not exist.`, 'Create it, or name an existing one.');
  const token = await readRayToken(connection, rayCluster, object, { hidden, signal });
  const known = token === undefined ? {} : { token };
  const service = stringAt(object, 'status', 'head', 'serviceName') ?? `${rayCluster.name}-head-svc`;
  const address = `http://${service}.${rayCluster.namespace}.svc:${rayPorts.dashboard}`;
  if (!usePortForwarding) return { address, ...known };
  const forward = await HeadForward.open({ connection, rayCluster, onProblem });
  opened.own(forward);
  // The address is for messages; the connection uses the socket.
  return { address, socketPath: forward.socketPath, ...known };
}
