import type { AwsReads } from '#cluster/aws/awsReads.ts';
import type { Evidence } from '#cluster/check.ts';
import { isClusterError } from '#cluster/errors.ts';
import type { HiddenTexts } from '#cluster/hiddenText.ts';
import { Once } from '#cluster/once.ts';
import type { ClusterProfile } from '#cluster/profile.ts';
import { connectKube } from './connectKube.ts';
import { KubeConnection } from './kubeConnection.ts';
import type { KubeAsk, KubeReply } from './kubeRequest.ts';
import { readServiceAccount, requestToken, type ServiceAccount, type ServiceAccountToken } from './serviceAccounts.ts';
import { readPerson, type Person } from './whoami.ts';

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
