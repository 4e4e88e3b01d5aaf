import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type CheckId, checkIdsByCategory } from '#cluster/checkIds.ts';
import type { ClusterProfile } from '#cluster/profile.ts';
import type { CheckReport } from '#cluster/result.ts';
import { verifyCluster } from '#cluster/verifyCluster.ts';
import { tempFolder } from '../../harness/temp.ts';
import { EksStandIn } from '../standIns/eksStandIn.ts';
import { StsStandIn } from '../standIns/stsStandIn.ts';
import { TokenWebhookStandIn } from '../standIns/tokenWebhookStandIn.ts';
import type { KubeObject } from './kubeApi.ts';
import { type KubeCluster, startKubeCluster } from './kubeCluster.ts';
import { account, allow, type Keys, type Moto, region, roleArn, startMoto, type Statement } from './moto.ts';
import { names } from './sound/names.ts';
import { rights } from './sound/rights.ts';
import { profileFor } from './soundCluster.ts';

/** Names in the sound account. */
export const aws = {
  cluster: 'geneva',
  clusterArn: `arn:aws:eks:${region}:${account}:cluster/geneva`,
  bucket: 'geneva-data',
  prefix: 'tables',
  clientRole: roleArn('geneva-client'),
  serviceRole: roleArn('geneva-service-role'),
  alice: `arn:aws:iam::${account}:user/alice`,
  adminPolicy: 'arn:aws:eks::aws:cluster-access-policy/AmazonEKSClusterAdminPolicy',
} as const;

const objects = `arn:aws:s3:::${aws.bucket}/${aws.prefix}/*`;

/** The permissions of client and service account, as one policy per action, so that a test can remove each. */
export const policies: Readonly<Record<string, Statement>> = {
  // Name no resource, because moto checks EKS's actions without a resource.
  describe: allow('eks:DescribeCluster'),
  list: allow('s3:ListBucket', `arn:aws:s3:::${aws.bucket}`),
  // Only moto has this action. In AWS, reading the region of a bucket requires s3:ListBucket.
  region: allow('s3:HeadBucket'),
  put: allow('s3:PutObject', objects),
  get: allow('s3:GetObject', objects),
  delete: allow('s3:DeleteObject', objects),
};

const pod: KubeObject = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'head', namespace: names.namespace },
  spec: {
    serviceAccountName: names.serviceAccount,
    containers: [
      {
        name: 'ray-head',
        image: names.image,
        env: [
          { name: 'AWS_ROLE_ARN', value: aws.serviceRole },
          { name: 'AWS_WEB_IDENTITY_TOKEN_FILE', value: '/var/run/secrets/eks.amazonaws.com/serviceaccount/token' },
        ],
      },
    ],
  },
  status: { phase: 'Running' },
};

export const serviceAccount = rights.find(({ kind }) => kind === 'ServiceAccount') as KubeObject;

/** An account with everything that a backfill needs, and a cluster that uses this account. */
export class SoundAws {
  readonly kube: KubeCluster;
  readonly moto: Moto;
  readonly sts: StsStandIn;
  readonly eks: EksStandIn;
  readonly webhook: TokenWebhookStandIn;
  /** The key of Alice, whom the client role trusts. */
  readonly alice: Keys;
  readonly profile: ClusterProfile;
  readonly #environment: Readonly<Record<string, string | undefined>>;

  constructor(parts: Pick<SoundAws, 'kube' | 'moto' | 'sts' | 'eks' | 'webhook' | 'alice'>) {
    this.kube = parts.kube;
    this.moto = parts.moto;
    this.sts = parts.sts;
    this.eks = parts.eks;
    this.webhook = parts.webhook;
    this.alice = parts.alice;
    this.#environment = { ...process.env };
    this.profile = {
      ...profileFor(parts.kube.kubeconfig('alice')),
      storage: { scheme: 's3', bucket: aws.bucket, prefix: aws.prefix },
      aws: {
        region,
        clusterName: aws.cluster,
        clientRole: 'geneva-client',
        serviceRole: aws.serviceRole,
        account,
      },
    };
  }

  get providerArn(): string {
    return `arn:aws:iam::${account}:oidc-provider/${this.issuer}`;
  }

  /** The issuer's address in the form that policies use. */
  get issuer(): string {
    return this.kube.address.replace('https://', '');
  }

  readonly clientTrust: Statement = { Effect: 'Allow', Principal: { AWS: aws.alice }, Action: 'sts:AssumeRole' };

  /**
   * Returns a trust policy for the service account.
   * @param claims the required claims of the token, if they differ from the claims of the service account
   */
  serviceTrust(claims: { aud?: string; sub?: string } = {}): Statement {
    const { aud = 'sts.amazonaws.com', sub = `system:serviceaccount:${names.namespace}:${names.serviceAccount}` } =
      claims;
    return {
      Effect: 'Allow',
      Principal: { Federated: this.providerArn },
      Action: 'sts:AssumeRoleWithWebIdentity',
      Condition: { StringEquals: { [`${this.issuer}:aud`]: aud, [`${this.issuer}:sub`]: sub } },
    };
  }

  /** Sets the environment of this process to Alice's credentials, as in a terminal. */
  signIn(keys: Keys = this.alice): void {
    const folder = tempFolder('aws-');
    const config = join(folder, 'config');
    writeFileSync(config, '');
    Object.assign(process.env, {
      AWS_ACCESS_KEY_ID: keys.accessKeyId,
      AWS_SECRET_ACCESS_KEY: keys.secretAccessKey,
      AWS_ENDPOINT_URL_STS: this.sts.address,
      AWS_ENDPOINT_URL_EKS: this.eks.address,
      AWS_ENDPOINT_URL_IAM: this.moto.address,
      AWS_ENDPOINT_URL_S3: this.moto.address,
      AWS_CONFIG_FILE: config,
      AWS_SHARED_CREDENTIALS_FILE: join(folder, 'credentials'),
      AWS_EC2_METADATA_DISABLED: 'true',
    });
    for (const name of ['AWS_PROFILE', 'AWS_SESSION_TOKEN', 'AWS_REGION']) delete process.env[name];
    if (keys.sessionToken !== undefined) process.env['AWS_SESSION_TOKEN'] = keys.sessionToken;
  }

  /** Restores the account after the changes of a test. */
  async restore(): Promise<void> {
    this.signIn();
    const { moto, eks, kube } = this;
    for (const [role, trust] of [
      ['geneva-client', this.clientTrust],
      ['geneva-service-role', this.serviceTrust()],
    ] as const) {
      if ((await moto.trust(role)) === undefined) await moto.role(role, [trust], {});
      await moto.setTrust(role, trust);
      await moto.forbidAll(role);
      for (const [name, statement] of Object.entries(policies)) await moto.permit(role, name, statement);
    }
    await moto.removeProvider(this.providerArn).catch(() => undefined);
    await moto.provider(kube.address, 'sts.amazonaws.com');
    eks.refused.clear();
    eks.entries.clear();
    eks.foreign.clear();
    eks.podIdentities.length = 0;
    this.sts.introduce(this.alice, 'alice');
    const cluster = { policyArn: aws.adminPolicy, scope: 'cluster', namespaces: [] };
    eks.entries.set(aws.clientRole, { type: 'STANDARD', kubernetesGroups: [], policies: [cluster] });
    eks.facts = factsOf(kube);
    await kube.api.replace(serviceAccount);
    await kube.api.replace(pod);
    for (const one of await kube.api.list('v1', 'Pod'))
      if (one.metadata.name !== pod.metadata.name) await kube.api.delete(one);
  }

  /** Runs the AWS checks, or only the given ones, with the checks that they need. */
  verify(
    options: { probe?: boolean; only?: readonly CheckId[]; profile?: ClusterProfile; signal?: AbortSignal } = {},
  ): Promise<CheckReport> {
    const { probe = true, only = checkIdsByCategory.aws, profile = this.profile, signal } = options;
    return verifyCluster(profile, { signal: signal ?? new AbortController().signal, probe, only });
  }

  async stop(): Promise<void> {
    for (const name of Object.keys(process.env)) if (name.startsWith('AWS_')) delete process.env[name];
    Object.assign(process.env, this.#environment);
    for (const part of [this.kube, this.sts, this.eks, this.webhook, this.moto]) await part.stop();
  }
}

const factsOf = (kube: KubeCluster) => ({
  endpoint: kube.address,
  ca: kube.pki.ca,
  issuer: kube.address,
  status: 'ACTIVE',
  authenticationMode: 'API_AND_CONFIG_MAP',
});

/**
 * Starts an account and a separate cluster, because the cluster's API server asks the account for the user of a token.
 */
export async function startSoundAws(): Promise<SoundAws> {
  const webhook = new TokenWebhookStandIn(aws.cluster);
  await webhook.start();
  const [kube, moto] = await Promise.all([startClusterWith(webhook), startMoto()]);
  const sts = new StsStandIn(moto, kube.api);
  const eks = new EksStandIn(moto, factsOf(kube));
  await Promise.all([sts.start(), eks.start()]);
  Object.assign(webhook, { sts, eks });
  await kube.api.apply(...rights, pod);
  const alice = await moto.user('alice', allow(['sts:*', 'iam:Get*', 'eks:DescribeAccessEntry']));
  sts.introduce(alice, 'alice');
  await moto.bucket(aws.bucket);
  await moto.cluster(aws.cluster);
  const sound = new SoundAws({ kube, moto, sts, eks, webhook, alice });
  await sound.restore();
  return sound;
}

/** Starts an API server that asks a webhook about unknown tokens and caches no results. */
function startClusterWith(webhook: TokenWebhookStandIn): Promise<KubeCluster> {
  const config = join(tempFolder('webhook-'), 'webhook.kubeconfig');
  const parts = {
    clusters: [{ name: 'webhook', cluster: { server: webhook.address } }],
    users: [{ name: 'webhook', user: {} }],
    contexts: [{ name: 'webhook', context: { cluster: 'webhook', user: 'webhook' } }],
  };
  writeFileSync(config, JSON.stringify({ apiVersion: 'v1', kind: 'Config', 'current-context': 'webhook', ...parts }));
  const args = { 'token-webhook-config-file': config, 'token-webhook-cache-ttl': '0s', 'token-webhook-version': 'v1' };
  return startKubeCluster({
    extraArgs: Object.entries(args).map(([name, value]) => `--authentication-${name}=${value}`),
  });
}
