import { isClusterError } from '#cluster/errors.ts';
import type { SecretRedactor } from '#cluster/secretTexts.ts';
import type { KubeReads } from '#cluster/kube/kubeReads.ts';
import type { ServiceAccountToken } from '#cluster/kube/serviceAccounts.ts';
import { RequestCache } from '#cluster/requestCache.ts';
import type { ClusterProfile } from '#cluster/profile.ts';
import { stringAt, textsAt } from '#shared/fields.ts';
import { openDefaultCredentials, type DefaultCredentials } from './defaultCredentials.ts';
import { bucketOf, clusterPath, gkePlace, tokenAudience, workloadPoolOf } from './gkeTarget.ts';
import { cloudScope, type GoogleAsk, GoogleClient, type GoogleEndpoints, type GoogleReply } from './googleClient.ts';
import { readGkeCluster, readPolicy, tokenAt, type Binding, type GkeCluster } from './replies.ts';

/** A value, and the request that returned it, for evidence. */
type WithRequest<T> = { readonly asked: string; readonly value: T };

/** The annotation of a Kubernetes service account that names the Google service account it acts as. */
export const accountAnnotation = 'iam.gke.io/gcp-service-account';

/** The IAM permissions that a backfill needs on the bucket. */
export const bucketPermissions = [
  'storage.objects.create',
  'storage.objects.delete',
  'storage.objects.get',
  'storage.objects.list',
] as const;

type GcpReadsOptions = {
  /** The cluster whose service account and tokens start the chain. */
  readonly kube: KubeReads;
  /** Base URLs to use instead of the public URLs of Google's APIs. */
  readonly endpoints?: Partial<GoogleEndpoints> | undefined;
};

/** Reads data from Google Cloud for the checks. Within one run, each result is requested only once (`RequestCache`). */
export class GcpReads {
  readonly #once = new RequestCache();
  readonly #client: GoogleClient;
  readonly #kube: KubeReads;
  readonly profile: ClusterProfile;
  readonly hidden: SecretRedactor;
  readonly signal: AbortSignal;

  /** @param signal the signal of the run; results are shared, so no single check may cancel a read */
  constructor(profile: ClusterProfile, hidden: SecretRedactor, signal: AbortSignal, options: GcpReadsOptions) {
    this.profile = profile;
    this.hidden = hidden;
    this.signal = signal;
    this.#kube = options.kube;
    this.#client = new GoogleClient(options.endpoints);
  }

  /** Returns the user's credentials. @throws ClusterError if there are none */
  credentials(): Promise<DefaultCredentials> {
    const { hidden, signal } = this;
    return this.#once.ask('credentials', () =>
      openDefaultCredentials({ hidden, signal, oauth2: this.#client.endpoints.oauth2 }),
    );
  }

  /**
   * Returns the account of the credentials as an IAM member. Returns `undefined` if neither Google nor the credentials
   * file names the account.
   * @throws ClusterError if the credentials give no token
   */
  caller(): Promise<string | undefined> {
    return this.#once.ask('caller', async () => {
      const credentials = await this.credentials();
      const { token } = await credentials.token(this.signal);
      const told = await this.#client
        // The token is sent in the body, because URLs appear in the logs of proxies.
        .call({ api: 'oauth2', path: '/tokeninfo', method: 'POST', form: { access_token: token } }, this.signal)
        .catch(() => undefined);
      const email = stringAt(told?.body, 'email') ?? credentials.account;
      return email && `${email.endsWith('.gserviceaccount.com') ? 'serviceAccount' : 'user'}:${email}`;
    });
  }

  /** Reads the profile's cluster as the user. @throws ClusterError Forbidden, NotFound */
  cluster(): Promise<WithRequest<GkeCluster>> {
    return this.#asking('cluster', async () => {
      const path = `/v1/${clusterPath(gkePlace(this.profile))}`;
      const { asked, body } = await this.#asPerson({ api: 'container', path });
      return { asked, value: readGkeCluster(body, asked) };
    });
  }

  /** Reads the IAM policy of a Google service account. @throws ClusterError Forbidden, NotFound */
  accountPolicy(email: string): Promise<WithRequest<readonly Binding[]>> {
    return this.#asking(`policy of ${email}`, async () => {
      const path = `/v1/projects/-/serviceAccounts/${encodeURIComponent(email)}:getIamPolicy`;
      const json = { options: { requestedPolicyVersion: 3 } };
      const { asked, body } = await this.#asPerson({ api: 'iam', path, method: 'POST', json });
      return { asked, value: readPolicy(body) };
    });
  }

  /** Reads the IAM policy of the bucket. @throws ClusterError Forbidden, NotFound */
  bucketPolicy(): Promise<WithRequest<readonly Binding[]>> {
    return this.#asking('policy of the bucket', async () => {
      const path = `/storage/v1/b/${encodeURIComponent(bucketOf(this.profile))}/iam?optionsRequestedPolicyVersion=3`;
      const { asked, body } = await this.#asPerson({ api: 'storage', path });
      return { asked, value: readPolicy(body) };
    });
  }

  /** Returns the Google service account that the Kubernetes service account's annotation names. @throws ClusterError */
  async annotatedAccount(): Promise<string | undefined> {
    return (await this.#kube.serviceAccount())?.annotations[accountAnnotation] || undefined;
  }

  /** Returns the Google service account of the profile, or the annotated one. @throws ClusterError */
  async meantAccount(): Promise<string | undefined> {
    return this.profile.gcp?.serviceAccount ?? (await this.annotatedAccount());
  }

  /**
   * First step of the chain: requests a token of the Kubernetes service account for the workload pool. @throws
   * ClusterError
   */
  podToken(): Promise<ServiceAccountToken> {
    return this.#kube.serviceAccountToken(workloadPoolOf(gkePlace(this.profile)));
  }

  /** Second step: exchanges that token for a token of Google. @throws ClusterError */
  federatedToken(): Promise<WithRequest<string>> {
    return this.#asking('federated token', async () => {
      const { token: subjectToken } = await this.podToken();
      const { asked, body } = await this.#client.call(
        {
          api: 'sts',
          path: '/v1/token',
          method: 'POST',
          json: {
            grantType: 'urn:ietf:params:oauth:grant-type:token-exchange',
            audience: tokenAudience(gkePlace(this.profile)),
            scope: cloudScope,
            requestedTokenType: 'urn:ietf:params:oauth:token-type:access_token',
            subjectTokenType: 'urn:ietf:params:oauth:token-type:jwt',
            subjectToken,
          },
        },
        this.signal,
      );
      return { asked, value: this.#secret(tokenAt(body, 'access_token', asked)) };
    });
  }

  /**
   * Third step: uses the token of Google to get a token of the Google service account. @throws ClusterError Forbidden,
   * NotFound
   */
  accountToken(email: string): Promise<WithRequest<string>> {
    return this.#asking(`token of ${email}`, async () => {
      const { value: token } = await this.federatedToken();
      const path = `/v1/projects/-/serviceAccounts/${encodeURIComponent(email)}:generateAccessToken`;
      const json = { scope: [cloudScope], lifetime: '600s' };
      const { asked, body } = await this.#client.call(
        { api: 'iamcredentials', path, method: 'POST', json, token },
        this.signal,
      );
      return { asked, value: this.#secret(tokenAt(body, 'accessToken', asked)) };
    });
  }

  /**
   * Fourth step: reads which of `bucketPermissions` the account has. Writes nothing.
   * @throws ClusterError Forbidden, NotFound
   */
  permissionsOf(email: string): Promise<WithRequest<readonly string[]>> {
    return this.#asking(`permissions of ${email}`, async () =>
      this.#permissionsBy((await this.accountToken(email)).value),
    );
  }

  /**
   * Reads which of `bucketPermissions` the pods themselves have; IAM can grant them roles without a Google service
   * account.
   * @throws ClusterError
   */
  permissionsOfPods(): Promise<WithRequest<readonly string[]>> {
    return this.#asking('permissions of pods', async () => this.#permissionsBy((await this.federatedToken()).value));
  }

  async #permissionsBy(token: string): Promise<WithRequest<readonly string[]>> {
    const wanted = bucketPermissions.map((permission) => `permissions=${permission}`).join('&');
    const path = `/storage/v1/b/${encodeURIComponent(bucketOf(this.profile))}/iam/testPermissions?${wanted}`;
    const { asked, body } = await this.#client.call({ api: 'storage', path, token }, this.signal);
    return { asked, value: textsAt(body, 'permissions') };
  }

  /**
   * Removes an object of the bucket as the service account. If the service account gets no token, removes the object as
   * the user.
   * @param signal independent of the run, so that the object can be removed after the run
   * @throws ClusterError
   */
  async removeObject(email: string, name: string, signal: AbortSignal): Promise<void> {
    const token = await this.accountToken(email).then(
      ({ value }) => value,
      async () => (await (await this.credentials()).token(signal)).token,
    );
    const path = `/storage/v1/b/${encodeURIComponent(bucketOf(this.profile))}/o/${encodeURIComponent(name)}`;
    try {
      await this.#client.call({ api: 'storage', path, method: 'DELETE', token }, signal);
    } catch (error) {
      if (!isClusterError(error) || error.kind !== 'NotFound') throw error;
    }
  }

  close(): Promise<void> {
    return this.#client.close();
  }

  #asking<T>(question: string, how: () => Promise<T>): Promise<T> {
    return this.#once.ask(question, how);
  }

  async #asPerson(ask: GoogleAsk): Promise<GoogleReply> {
    const credentials = await this.credentials();
    const { token } = await credentials.token(this.signal);
    return this.#client.call({ ...ask, token, quotaProject: credentials.quotaProject }, this.signal);
  }

  #secret(token: string): string {
    this.hidden.add(token);
    return token;
  }
}
