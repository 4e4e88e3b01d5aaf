import { join } from 'node:path';
import { CreateClusterCommand, EKSClient } from '@aws-sdk/client-eks';
import {
  CreateAccessKeyCommand,
  CreateOpenIDConnectProviderCommand,
  CreateRoleCommand,
  CreateUserCommand,
  DeleteOpenIDConnectProviderCommand,
  DeleteRoleCommand,
  DeleteRolePolicyCommand,
  GetRoleCommand,
  IAMClient,
  ListRolePoliciesCommand,
  PutRolePolicyCommand,
  PutUserPolicyCommand,
  UpdateAssumeRolePolicyCommand,
} from '@aws-sdk/client-iam';
import {
  type BucketLocationConstraint,
  CreateBucketCommand,
  DeleteObjectCommand,
  ListObjectsV2Command,
  S3Client,
} from '@aws-sdk/client-s3';
import { STSClient } from '@aws-sdk/client-sts';
import { request } from 'undici';
import { freePorts } from '../../harness/freePorts.ts';
import { python } from '../../harness/needs/python.ts';
import { tempFolder } from '../../harness/temp.ts';
import { startServer, until } from './processes.ts';

export type Keys = { readonly accessKeyId: string; readonly secretAccessKey: string; readonly sessionToken?: string };
export type Statement = Readonly<Record<string, unknown>>;

/** The account that moto simulates. */
export const account = '123456789012';
export const region = 'eu-west-1';
export const roleArn = (name: string): string => `arn:aws:iam::${account}:role/${name}`;

const document = (...statements: readonly Statement[]): string =>
  JSON.stringify({ Version: '2012-10-17', Statement: statements });

export const allow = (action: string | readonly string[], resource: string | readonly string[] = '*'): Statement => ({
  Effect: 'Allow',
  Action: action,
  Resource: resource,
});

/** AWS simulated by moto, with checks of signatures and policies, and an administrator who sets it up. */
export class Moto {
  readonly address: string;
  /** An administrator with all permissions. */
  readonly admin: Keys;
  readonly iam: IAMClient;
  readonly s3: S3Client;
  readonly eks: EKSClient;
  readonly sts: STSClient;
  readonly #stop: () => Promise<void>;

  constructor(address: string, admin: Keys, stop: () => Promise<void>) {
    this.address = address;
    this.admin = admin;
    this.#stop = stop;
    const config = { endpoint: address, region, credentials: admin };
    this.iam = new IAMClient(config);
    this.s3 = new S3Client(config);
    this.eks = new EKSClient(config);
    this.sts = new STSClient(config);
  }

  /** Creates a user with a policy. @returns the user's key */
  async user(name: string, ...statements: readonly Statement[]): Promise<Keys> {
    return makeUser(this.iam, name, statements);
  }

  async role(name: string, trust: readonly Statement[], policies: Readonly<Record<string, Statement>>): Promise<void> {
    await this.iam.send(new CreateRoleCommand({ RoleName: name, AssumeRolePolicyDocument: document(...trust) }));
    for (const [policy, statement] of Object.entries(policies)) await this.permit(name, policy, statement);
  }

  async permit(role: string, policy: string, statement: Statement): Promise<void> {
    const asked = { RoleName: role, PolicyName: policy, PolicyDocument: document(statement) };
    await this.iam.send(new PutRolePolicyCommand(asked));
  }

  /** Removes all permissions of a role. */
  async forbidAll(role: string): Promise<void> {
    const { PolicyNames: names = [] } = await this.iam.send(new ListRolePoliciesCommand({ RoleName: role }));
    for (const name of names) await this.forbid(role, name);
  }

  async forbid(role: string, policy: string): Promise<void> {
    await this.iam.send(new DeleteRolePolicyCommand({ RoleName: role, PolicyName: policy }));
  }

  /** Returns the trust policy of a role as JSON; `undefined` if the role does not exist. */
  async trust(role: string): Promise<string | undefined> {
    try {
      const { Role: found } = await this.iam.send(new GetRoleCommand({ RoleName: role }));
      return decodeURIComponent(found?.AssumeRolePolicyDocument ?? '');
    } catch {
      return undefined;
    }
  }

  async setTrust(role: string, ...statements: readonly Statement[]): Promise<void> {
    await this.setTrustText(role, document(...statements));
  }

  async setTrustText(role: string, text: string): Promise<void> {
    await this.iam.send(new UpdateAssumeRolePolicyCommand({ RoleName: role, PolicyDocument: text }));
  }

  async removeRole(role: string): Promise<void> {
    await this.forbidAll(role);
    await this.iam.send(new DeleteRoleCommand({ RoleName: role }));
  }

  async provider(issuer: string, ...audiences: readonly string[]): Promise<void> {
    await this.iam.send(new CreateOpenIDConnectProviderCommand({ Url: issuer, ClientIDList: [...audiences] }));
  }

  async removeProvider(arn: string): Promise<void> {
    await this.iam.send(new DeleteOpenIDConnectProviderCommand({ OpenIDConnectProviderArn: arn }));
  }

  async bucket(name: string, where: string = region): Promise<void> {
    const s3 = new S3Client({ endpoint: this.address, region: where, credentials: this.admin });
    const place = { LocationConstraint: where as BucketLocationConstraint };
    await s3.send(new CreateBucketCommand({ Bucket: name, CreateBucketConfiguration: place }));
    s3.destroy();
  }

  async keysIn(bucket: string): Promise<readonly string[]> {
    const { Contents: found = [] } = await this.s3.send(new ListObjectsV2Command({ Bucket: bucket }));
    return found.map(({ Key: key }) => key ?? '');
  }

  async empty(bucket: string): Promise<void> {
    for (const key of await this.keysIn(bucket))
      await this.s3.send(new DeleteObjectCommand({ Bucket: bucket, Key: key }));
  }

  async cluster(name: string): Promise<void> {
    await this.eks.send(
      new CreateClusterCommand({
        name,
        version: '1.30',
        roleArn: roleArn('eks'),
        resourcesVpcConfig: { subnetIds: ['subnet-1'] },
      }),
    );
  }

  async stop(): Promise<void> {
    for (const client of [this.iam, this.s3, this.eks, this.sts]) client.destroy();
    await this.#stop();
  }
}

/** Starts moto's server with checks of signatures and policies. */
export async function startMoto(): Promise<Moto> {
  const [port = 0] = await freePorts(1);
  const address = `http://127.0.0.1:${port}`;
  const log = join(tempFolder('moto-'), 'moto.log');
  const server = startServer(python(), ['-m', 'moto.server', '-H', '127.0.0.1', '-p', String(port)], log);
  await until("moto's server", () => answers(address), { giveUp: () => server.isOver(), told: () => server.said() });
  const anybody = new IAMClient({
    endpoint: address,
    region,
    credentials: { accessKeyId: 'test', secretAccessKey: 'test' },
  });
  const admin = await makeUser(anybody, 'admin', [allow('*')]);
  anybody.destroy();
  // The body is the number of requests that pass without a check.
  await request(`${address}/moto-api/reset-auth`, { method: 'POST', body: '0' });
  return new Moto(address, admin, () => server.stop());
}

async function makeUser(iam: IAMClient, name: string, statements: readonly Statement[]): Promise<Keys> {
  await iam.send(new CreateUserCommand({ UserName: name }));
  const policy = { UserName: name, PolicyName: 'own', PolicyDocument: document(...statements) };
  await iam.send(new PutUserPolicyCommand(policy));
  const { AccessKey: key } = await iam.send(new CreateAccessKeyCommand({ UserName: name }));
  return { accessKeyId: key?.AccessKeyId ?? '', secretAccessKey: key?.SecretAccessKey ?? '' };
}

async function answers(address: string): Promise<boolean> {
  try {
    return (await request(`${address}/moto-api/`)).statusCode < 500;
  } catch {
    return false;
  }
}
