import type { KubeAccess } from '#cluster/kube/kubeConnection.ts';
import type { ServiceAccountToken } from '#cluster/kube/serviceAccounts.ts';
import { ClusterError, isClusterError } from '#cluster/errors.ts';
import type { SecretRedactor } from '#cluster/secretTexts.ts';
import type { CleanupList } from '#cluster/cleanupList.ts';
import { RequestCache } from '#cluster/requestCache.ts';
import type { BucketLocation, ClusterProfile } from '#cluster/profile.ts';
import { AwsIdentity, assumeRole, callerOf } from './awsIdentity.ts';
import { chainKeys } from './awsKeys.ts';
import { type AwsCaller, awsPlaceOf, type AwsTarget, isSessionOf, readArn, roleArnOf } from './awsNames.ts';
import { BucketProbe, readBucketRegion } from './bucketProbe.ts';
import { eksAccess, loginOf, type EksAuth } from './connectEks.ts';
import { describeEksCluster, type EksCluster } from './eksCluster.ts';
import {
  type AccessEntry,
  type AccessPolicy,
  assumeByWebIdentity,
  type AwsPrincipal,
  type AwsRole,
  type OidcProvider,
  readAccessEntry,
  readAccessPolicies,
  readOidcProvider,
  readPodIdentity,
  readPrincipal,
  readRole,
} from './iamReads.ts';

/** The identity that acts as the client: the client role, or the user if the profile has no client role. */
type ClientIdentity = {
  readonly identity: AwsIdentity;
  readonly arn: string;
  readonly how: 'assumed' | 'already' | 'person';
};

/** Reads data from AWS for the checks. Within one run, each result is requested only once (`RequestCache`). */
export class AwsReads {
  readonly #once = new RequestCache();
  readonly #identities: AwsIdentity[] = [];
  readonly profile: ClusterProfile;
  readonly hidden: SecretRedactor;
  readonly signal: AbortSignal;

  /** @param signal the signal of the run; results are shared, so no single check may cancel a read */
  constructor(profile: ClusterProfile, hidden: SecretRedactor, signal: AbortSignal) {
    this.profile = profile;
    this.hidden = hidden;
    this.signal = signal;
  }

  protected once<T>(question: string, how: () => Promise<T>): Promise<T> {
    return this.#once.ask(question, how);
  }

  /** The AWS settings of the profile. @throws ClusterError ProfileInvalid if there are none */
  get place(): AwsTarget {
    const place = awsPlaceOf(this.profile);
    if (place === undefined)
      throw new ClusterError('ProfileInvalid', 'The profile has no AWS settings.', 'Add "aws" to the profile.');
    return place;
  }

  /** The bucket of the tables. @throws ClusterError ProfileInvalid if the profile has no S3 bucket */
  get bucket(): BucketLocation {
    const { storage } = this.profile;
    if (storage?.scheme !== 's3') throw new ClusterError('ProfileInvalid', 'The profile has no S3 bucket.', '');
    return storage;
  }

  /**
   * Returns the identity of the user, with the credentials that the AWS command line would use. @throws ClusterError
   */
  person(): Promise<AwsIdentity> {
    return this.once('person', async () => {
      const { region, profile } = this.place;
      const keys = await chainKeys({ region, profile, hidden: this.hidden, foundIn: this.profile.auth.foundIn });
      return this.#own(new AwsIdentity({ label: 'you', keys, region, profile }));
    });
  }

  /** Reads which principal the user is. @throws ClusterError */
  caller(): Promise<AwsCaller> {
    return this.once('caller', async () => callerOf(await this.person(), this.signal));
  }

  /** Returns the ARN of the client role, or `undefined` if the profile has none. @throws ClusterError */
  async clientRoleArn(): Promise<string | undefined> {
    const { clientRole } = this.place;
    return clientRole === undefined ? undefined : roleArnOf(clientRole, await this.caller());
  }

  /** @throws ClusterError Forbidden if the client role does not trust the user */
  client(): Promise<ClientIdentity> {
    return this.once('client', async () => {
      const [person, { arn }, roleArn] = [await this.person(), await this.caller(), await this.clientRoleArn()];
      if (roleArn === undefined) return { identity: person, arn, how: 'person' as const };
      if (isSessionOf(arn, roleArn)) return { identity: person, arn: roleArn, how: 'already' as const };
      const { hidden, signal } = this;
      const identity = await assumeRole(person, { roleArn, label: `the client role ${roleArn}`, hidden, signal });
      return { identity: this.#own(identity), arn: roleArn, how: 'assumed' as const };
    });
  }

  /** Returns the principal of the client in the form that access entries use. @throws ClusterError */
  principal(): Promise<AwsPrincipal> {
    return this.once('principal', async () => {
      const { arn, how } = await this.client();
      const isWritten = how === 'assumed' || (how === 'already' && this.place.clientRole?.startsWith('arn:') === true);
      return isWritten ? { arn, isSure: true } : readPrincipal(arn, (roleArn) => this.role(roleArn));
    });
  }

  /** Reads the cluster from EKS, as the client. @throws ClusterError */
  cluster(): Promise<EksCluster> {
    return this.once('cluster', async () => {
      const { identity } = await this.client();
      return describeEksCluster(identity, this.#clusterName(), this.signal);
    });
  }

  /**
   * Returns how to access the cluster as the client. Uses data that the AWS checks read anyway. @throws ClusterError
   */
  async accessTo(auth: EksAuth): Promise<KubeAccess> {
    const [{ identity }, cluster] = [await this.client(), await this.cluster()];
    return eksAccess(cluster, { login: loginOf(auth), identity, hidden: this.hidden });
  }

  /** Reads the cluster from EKS, as the service account's role. @throws ClusterError */
  clusterAsService(roleArn: string, token: ServiceAccountToken): Promise<EksCluster> {
    return this.once('cluster as service', async () =>
      describeEksCluster(await this.service(roleArn, token), this.#clusterName(), this.signal),
    );
  }

  /** Reads the client's access entry for the cluster. @throws ClusterError NotFound if the client has none */
  accessEntry(): Promise<AccessEntry> {
    return this.once('access entry', async () => {
      const [{ account }, { arn: principalArn }] = [await this.cluster(), await this.principal()];
      const asked = { clusterName: this.#clusterName(), principalArn };
      return this.#byWhoMay(account, (who) => readAccessEntry(who, asked, this.signal));
    });
  }

  /** @throws ClusterError */
  accessPolicies(): Promise<readonly AccessPolicy[]> {
    return this.once('access policies', async () => {
      const [{ account }, { arn: principalArn }] = [await this.cluster(), await this.principal()];
      const asked = { clusterName: this.#clusterName(), principalArn };
      return this.#byWhoMay(account, (who) => readAccessPolicies(who, asked, this.signal));
    });
  }

  /**
   * Returns the id of the service account's pod identity association, or `undefined` if there is none.
   * The association gives the service account a role without an annotation.
   * @throws ClusterError
   */
  podIdentity(): Promise<string | undefined> {
    return this.once('pod identity', async () => {
      const { namespace, serviceAccount } = this.profile;
      const asked = { clusterName: this.#clusterName(), namespace, serviceAccount };
      const { account } = await this.cluster();
      return this.#byWhoMay(account, (who) => readPodIdentity(who, asked, this.signal));
    });
  }

  /** Reads a role with its trust policy. @throws ClusterError NotFound if it does not exist */
  role(roleArn: string): Promise<AwsRole> {
    const account = readArn(roleArn)?.account ?? '';
    return this.once(`role ${roleArn}`, () => this.#byWhoMay(account, (who) => readRole(who, roleArn, this.signal)));
  }

  /** @throws ClusterError NotFound if IAM does not have it */
  oidcProvider(arn: string): Promise<OidcProvider> {
    const account = readArn(arn)?.account ?? '';
    return this.once(`provider ${arn}`, () =>
      this.#byWhoMay(account, (who) => readOidcProvider(who, arn, this.signal)),
    );
  }

  /** Returns the identity that the pods have. @throws ClusterError */
  service(roleArn: string, { token }: ServiceAccountToken): Promise<AwsIdentity> {
    return this.once('service', async () => {
      const { region, profile } = this.place;
      const { hidden, signal } = this;
      return this.#own(await assumeByWebIdentity({ roleArn, token, region, profile, hidden, signal }));
    });
  }

  /** @throws ClusterError */
  bucketRegion(identity: AwsIdentity): Promise<string> {
    return this.once('bucket region', () => readBucketRegion(identity, this.bucket.bucket, this.signal));
  }

  /**
   * Returns the bucket probe of an identity, created once per identity. @throws ClusterError if the bucket does not
   * exist
   */
  probe(identity: AwsIdentity, leftovers: CleanupList): Promise<BucketProbe> {
    return this.once(`probe as ${identity.label}`, async () => {
      const region = await this.#regionOfProbe(identity);
      return new BucketProbe(identity, this.bucket, { region, leftovers, signal: this.signal });
    });
  }

  close(): void {
    for (const identity of this.#identities) identity.close();
  }

  /**
   * Returns the region of the bucket, or the region of the cluster if the identity may not read the bucket's region.
   * If the bucket is in another region, the error of the next request names that region.
   */
  async #regionOfProbe(identity: AwsIdentity): Promise<string> {
    try {
      return await this.bucketRegion(identity);
    } catch (error) {
      if (isClusterError(error) && error.kind === 'Forbidden') return this.place.region;
      throw error;
    }
  }

  #clusterName(): string {
    const { clusterName } = this.place;
    if (clusterName === undefined)
      throw new ClusterError(
        'ProfileInvalid',
        'The profile does not name an EKS cluster.',
        'Add "aws.clusterName" to the profile.',
      );
    return clusterName;
  }

  /**
   * Reads from an account with an identity of that account. Tries the user first, because more users than clients may
   * read roles. If AWS refuses the user, tries the client.
   * Identities of other accounts are not used: there, the same name may belong to another resource or to none, and such
   * a result would look valid.
   * @throws ClusterError
   */
  async #byWhoMay<T>(account: string, ask: (who: AwsIdentity) => Promise<T>): Promise<T> {
    const [person, { account: own }] = [await this.person(), await this.caller()];
    let refusal = new ClusterError(
      'Forbidden',
      `The resource is in AWS account ${account}, but you are signed in to account ${own}.`,
      'Sign in to that account to check the resource.',
    );
    if (own === account)
      try {
        return await ask(person);
      } catch (error) {
        if (!isClusterError(error) || error.kind !== 'Forbidden') throw error;
        refusal = error;
      }
    const client = await this.client().catch(() => undefined);
    if (!client || client.identity === person || readArn(client.arn)?.account !== account) throw refusal;
    return ask(client.identity);
  }

  #own(identity: AwsIdentity): AwsIdentity {
    this.#identities.push(identity);
    return identity;
  }
}
