import type { AwsReads } from '#cluster/aws/awsReads.ts';
import { ClusterError, isClusterError } from '#cluster/errors.ts';
import { Once } from '#cluster/memo.ts';
import type { ClusterProfile } from '#cluster/profile.ts';
import type { Evidence } from '#cluster/result.ts';
import type { HiddenTexts } from '#cluster/secretTexts.ts';
import { connectKube } from './connectKube.ts';
import { textAt, textsAt } from './fields.ts';
import { KubeConnection } from './kubeConnection.ts';
import type { KubeAsk, KubeReply } from './kubeRequest.ts';
import { readServiceAccount, requestToken, type ServiceAccount, type ServiceAccountToken } from './serviceAccounts.ts';

/** Who asks, as the API server knows them. */
type Person = {
  /** Empty where the server accepts the credentials and has no way to say whose they are. */
  readonly username: string;
  readonly groups: readonly string[];
  readonly evidence: Evidence;
};

const kind = 'SelfSubjectReview';

/** @throws ClusterError */
async function readPerson(kube: KubeReads): Promise<Person> {
  try {
    return await review(kube);
  } catch (error) {
    if (!isClusterError(error)) throw error;
    // Kubernetes before 1.28 does not serve the question; any answer to another one says that the credentials are good.
    if (error.kind === 'NotFound') return acceptedPerson(kube);
    const refused = refusalOf(error);
    if (refused) throw refused;
    // Who is told that they may not ask is named in the refusal.
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
 * The error for a refusal that holds for every question alike: taken for one of a grant, it would have all checks skipped
 * and none fail.
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

async function review(kube: KubeReads): Promise<Person> {
  const { body } = await kube.request({
    method: 'POST',
    path: '/apis/authentication.k8s.io/v1/selfsubjectreviews',
    body: { apiVersion: 'authentication.k8s.io/v1', kind },
  });
  const username = textAt(body, 'status', 'userInfo', 'username');
  if (username === undefined)
    throw new ClusterError(
      'BadReply',
      'The API server does not say who you are.',
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

async function acceptedPerson(kube: KubeReads): Promise<Person> {
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

/** What checks ask of the Kubernetes API, each question once a run. */
export class KubeReads {
  readonly #once = new Once();
  readonly #aws: AwsReads | undefined;
  #connection: Promise<KubeConnection> | undefined;
  readonly profile: ClusterProfile;
  readonly hidden: HiddenTexts;
  readonly signal: AbortSignal;

  /**
   * @param signal the run's: an answer is shared, so that no single check may give it up
   * @param aws has what EKS_AUTH asks AWS for, where its checks are run too
   */
  constructor(profile: ClusterProfile, hidden: HiddenTexts, signal: AbortSignal, aws?: AwsReads) {
    this.#aws = aws;
    this.profile = profile;
    this.hidden = hidden;
    this.signal = signal;
  }

  /** Asks a question once a run: the reads of this folder know their answers by it. */
  once<T>(question: string, how: () => Promise<T>): Promise<T> {
    return this.#once.ask(question, how);
  }

  /** @throws ClusterError for each way in which a kubeconfig, a plugin or a cloud's credentials are of no use */
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

  /** Ends the connections of the run, where there are any. */
  async close(): Promise<void> {
    const connection = await this.#connection?.catch(() => undefined);
    await connection?.close();
  }

  /**
   * Asks as the person does, not once a run but each time.
   * @param signal for what must go on after the run has ended, such as cleaning up; else the run's
   * @throws ClusterError
   */
  async request(ask: KubeAsk, signal: AbortSignal = this.signal): Promise<KubeReply> {
    const connection = await this.connection();
    return connection.request(ask, signal);
  }

  /** What a GET says, asked once a run. @throws ClusterError */
  get(path: string): Promise<unknown> {
    return this.once(`GET ${path}`, async () => (await this.request({ method: 'GET', path })).body);
  }

  /** The same, `undefined` where there is nothing. @throws ClusterError for anything but NotFound */
  async find(path: string): Promise<unknown> {
    try {
      return await this.get(path);
    } catch (error) {
      if (isClusterError(error) && error.kind === 'NotFound') return undefined;
      throw error;
    }
  }

  /** Who asks, as the API server knows them. @throws ClusterError */
  whoami(): Promise<Person> {
    return this.once('who am I', () => readPerson(this));
  }

  /** The service account that head and workers run under; `undefined` where there is none. @throws ClusterError */
  serviceAccount(): Promise<ServiceAccount | undefined> {
    const { namespace, serviceAccount } = this.profile;
    return this.once('service account', () => readServiceAccount(this, namespace, serviceAccount));
  }

  /**
   * A token of the service account, good for ten minutes, as its pods are given one.
   * @param audience who is to accept it; the API server itself where nothing is said
   * @throws ClusterError
   */
  serviceAccountToken(audience?: string): Promise<ServiceAccountToken> {
    return this.once(`token for ${audience ?? 'the API server'}`, () => requestToken(this, audience));
  }
}

/** What a GET of a path said, for a report. */
export const sawAt = (path: string, saw: string): Evidence => ({ asked: `GET ${path}`, saw });
