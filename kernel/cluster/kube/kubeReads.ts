import type { AwsReads } from '#cluster/aws/awsReads.ts';
import { ClusterError, isClusterError } from '#cluster/errors.ts';
import { RequestCache } from '#cluster/requestCache.ts';
import type { ClusterProfile } from '#cluster/profile.ts';
import type { Evidence } from '#cluster/result.ts';
import type { SecretRedactor } from '#cluster/secretTexts.ts';
import { connectKube } from './connectKube.ts';
import { stringAt, textsAt } from '#shared/fields.ts';
import { KubeConnection } from './kubeConnection.ts';
import type { KubeAsk, KubeReply } from './kubeRequest.ts';
import { readServiceAccount, requestToken, type ServiceAccount, type ServiceAccountToken } from './serviceAccounts.ts';

/** The user, as the API server reports it. */
type KubeUser = {
  /** Empty if the server accepts the credentials, but can't report the user. */
  readonly username: string;
  readonly groups: readonly string[];
  readonly evidence: Evidence;
};

const kind = 'SelfSubjectReview';

/** @throws ClusterError */
async function readCurrentUser(kube: KubeReads): Promise<KubeUser> {
  try {
    return await review(kube);
  } catch (error) {
    if (!isClusterError(error)) throw error;
    // Kubernetes before 1.28 lacks this API; any reply to another request proves that the credentials are valid.
    if (error.kind === 'NotFound') return acceptedPerson(kube);
    const refused = refusalOf(error);
    if (refused) throw refused;
    // If the server refuses the request, its message names the user.
    const named = error.kind === 'Forbidden' ? /User "([^"]+)"/.exec(error.what)?.[1] : undefined;
    if (named === undefined) throw error;
    return {
      username: named,
      groups: [],
      evidence: { asked: kind, saw: `${named} is not allowed to create this review` },
    };
  }
}

/**
 * Returns the error for a refusal that applies to every request. Such a refusal is not a missing grant. If it were
 * treated as one, checks would be skipped and no check would fail.
 */
function refusalOf({ kind: reason, what, status }: ClusterError): ClusterError | undefined {
  if (reason !== 'Forbidden') return undefined;
  const [, other = '', person] = /"([^"]*)" is forbidden: User "([^"]+)" cannot impersonate /.exec(what) ?? [];
  if (person !== undefined)
    return new ClusterError(
      'CredentialsRefused',
      `${person} is not allowed to impersonate ${other}, as the kubeconfig requests.`,
      'Remove "as" from the user in the kubeconfig, or ask an administrator for the permission (impersonate).',
      { status },
    );
  const path = /cannot post path "([^"]*)\/apis\/authentication/.exec(what)?.[1];
  if (path === undefined) return undefined;
  return new ClusterError(
    'WrongServer',
    `The API server serves nothing below ${path}, which is part of its address.`,
    'Check the address of the cluster in the kubeconfig: the part after host and port may be wrong.',
    { status },
  );
}

async function review(kube: KubeReads): Promise<KubeUser> {
  const { body } = await kube.request({
    method: 'POST',
    path: '/apis/authentication.k8s.io/v1/selfsubjectreviews',
    body: { apiVersion: 'authentication.k8s.io/v1', kind },
  });
  const username = stringAt(body, 'status', 'userInfo', 'username');
  if (username === undefined)
    throw new ClusterError(
      'BadReply',
      'The API server does not report your identity.',
      'Check that the address is that of a Kubernetes API server.',
    );
  if (username === 'system:anonymous')
    throw new ClusterError(
      'CredentialsMissing',
      'The API server treats you as anonymous (system:anonymous).',
      'Set a user with credentials for the context in the kubeconfig.',
    );
  const groups = textsAt(body, 'status', 'userInfo', 'groups');
  return { username, groups, evidence: { asked: kind, saw: `${username} (${groups.join(', ') || 'no groups'})` } };
}

async function acceptedPerson(kube: KubeReads): Promise<KubeUser> {
  const asked = 'SelfSubjectAccessReview';
  await kube.request({
    method: 'POST',
    path: '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews',
    body: {
      apiVersion: 'authorization.k8s.io/v1',
      kind: asked,
      spec: { nonResourceAttributes: { path: '/version', verb: 'get' } },
    },
  });
  return { username: '', groups: [], evidence: { asked, saw: 'accepted; the server is too old to name the user' } };
}

/**
 * Reads data from the Kubernetes API for the checks. Within one run, each result is requested only once
 * (`RequestCache`).
 */
export class KubeReads {
  readonly #once = new RequestCache();
  readonly #aws: AwsReads | undefined;
  #connection: Promise<KubeConnection> | undefined;
  readonly profile: ClusterProfile;
  readonly hidden: SecretRedactor;
  readonly signal: AbortSignal;

  /**
   * @param signal the signal of the run; results are shared, so no single check may cancel a read
   * @param aws the reads of the AWS checks, which get the AWS data that EKS_AUTH needs
   */
  constructor(profile: ClusterProfile, hidden: SecretRedactor, signal: AbortSignal, aws?: AwsReads) {
    this.#aws = aws;
    this.profile = profile;
    this.hidden = hidden;
    this.signal = signal;
  }

  /**
   * Runs a read, but only once within a run of the checks. Later calls with the same `question` return the first
   * result. After a transient failure, the next call runs the read again.
   * @param question identifies the result; all reads in this folder share these names
   */
  once<T>(question: string, how: () => Promise<T>): Promise<T> {
    return this.#once.ask(question, how);
  }

  /** @throws ClusterError if the kubeconfig, a plugin or a cloud's credentials are not usable */
  connection(): Promise<KubeConnection> {
    return this.once('connection', () => {
      this.#connection = this.#connect();
      return this.#connection;
    });
  }

  async #connect(): Promise<KubeConnection> {
    const { auth } = this.profile;
    if (this.#aws && auth.configMethod === 'EKS_AUTH') return new KubeConnection(await this.#aws.accessTo(auth));
    return connectKube(auth, { hidden: this.hidden, signal: this.signal });
  }

  /** Closes the connection of the run, if it was opened. */
  async close(): Promise<void> {
    const connection = await this.#connection?.catch(() => undefined);
    await connection?.close();
  }

  /**
   * Sends a request as the user. Unlike for `get`, the reply is not cached.
   * @param signal Default: the signal of the run. Work that continues after the run, such as cleanup, needs another
   * one.
   * @throws ClusterError
   */
  async request(ask: KubeAsk, signal: AbortSignal = this.signal): Promise<KubeReply> {
    const connection = await this.connection();
    return connection.request(ask, signal);
  }

  /** Returns the body of the reply to a GET. Within one run, a path is requested only once. @throws ClusterError */
  get(path: string): Promise<unknown> {
    return this.once(`GET ${path}`, async () => (await this.request({ method: 'GET', path })).body);
  }

  /** Like `get`, but returns `undefined` for NotFound. @throws ClusterError for any other failure */
  async find(path: string): Promise<unknown> {
    try {
      return await this.get(path);
    } catch (error) {
      if (isClusterError(error) && error.kind === 'NotFound') return undefined;
      throw error;
    }
  }

  /** Returns the user, as the API server reports it. @throws ClusterError */
  whoami(): Promise<KubeUser> {
    return this.once('who am I', () => readCurrentUser(this));
  }

  /** Reads the service account of head and workers; `undefined` if it does not exist. @throws ClusterError */
  serviceAccount(): Promise<ServiceAccount | undefined> {
    const { namespace, serviceAccount } = this.profile;
    return this.once('service account', () => readServiceAccount(this, namespace, serviceAccount));
  }

  /**
   * Returns a token of the service account, like the one that its pods get, valid for ten minutes.
   * @param audience default: the API server
   * @throws ClusterError
   */
  serviceAccountToken(audience?: string): Promise<ServiceAccountToken> {
    return this.once(`token for ${audience ?? 'the API server'}`, () => requestToken(this, audience));
  }
}

/** Builds evidence from a GET of a path. */
export const evidenceFor = (path: string, saw: string): Evidence => ({ asked: `GET ${path}`, saw });
