import { EKSClient } from '@aws-sdk/client-eks';
import { IAMClient } from '@aws-sdk/client-iam';
import { S3Client } from '@aws-sdk/client-s3';
import { AssumeRoleCommand, GetCallerIdentityCommand, STSClient } from '@aws-sdk/client-sts';
import { definedEntries } from '#shared/records.ts';
import { ClusterError } from '#cluster/errors.ts';
import type { SecretRedactor } from '#cluster/secretTexts.ts';
import { awsCall, notAnAwsReply, type AwsQuestion } from './awsErrors.ts';
import { hideKeys, type AwsKeys } from './awsKeys.ts';
import { readArn, type AwsCaller } from './awsNames.ts';
import { awsTransport } from './awsTransport.ts';

type IdentityOptions = {
  /** Name of the principal in messages: `you`, or a role. */
  readonly label: string;
  readonly keys: AwsKeys;
  readonly region: string;
  readonly profile?: string | undefined;
};

/** An AWS principal with its service clients. Owns their connections, which `close()` ends. */
export class AwsIdentity {
  readonly label: string;
  readonly keys: AwsKeys;
  readonly region: string;
  /** The profile that the keys come from. The service clients need it too, because the profile may set endpoints. */
  readonly profile: string | undefined;
  readonly #clients = new Map<string, { destroy(): void }>();

  constructor({ label, keys, region, profile }: IdentityOptions) {
    this.label = label;
    this.keys = keys;
    this.region = region;
    this.profile = profile;
  }

  get sts(): STSClient {
    return this.#client('sts', () => new STSClient(this.#options()));
  }

  get eks(): EKSClient {
    return this.#client('eks', () => new EKSClient(this.#options()));
  }

  get iam(): IAMClient {
    return this.#client('iam', () => new IAMClient(this.#options()));
  }

  /** @param region the region of the bucket, because S3 rejects a request that is sent to another region */
  s3(region: string): S3Client {
    return this.#client(`s3 ${region}`, () => new S3Client({ ...this.#options(), region }));
  }

  question(action: string, thing: string): AwsQuestion {
    return { action, thing, as: this.label, profile: this.profile };
  }

  close(): void {
    for (const client of this.#clients.values()) client.destroy();
    this.#clients.clear();
  }

  #options() {
    const { keys, region, profile } = this;
    return {
      region,
      credentials: keys,
      maxAttempts: 2,
      requestHandler: awsTransport(),
      ...definedEntries({ profile }),
    };
  }

  #client<T extends { destroy(): void }>(name: string, make: () => T): T {
    const known = this.#clients.get(name);
    // The cast is safe, because each name stands for one kind of client.
    if (known) return known as T;
    const client = make();
    this.#clients.set(name, client);
    return client;
  }
}

/** Reads which principal an identity is. AWS allows this request for every valid key. */
export async function callerOf(identity: AwsIdentity, signal: AbortSignal): Promise<AwsCaller> {
  const question = identity.question('sts:GetCallerIdentity', 'the identity of the caller');
  const reply = await awsCall(question, () =>
    identity.sts.send(new GetCallerIdentityCommand({}), { abortSignal: signal }),
  );
  const parts = readArn(reply.Arn ?? '');
  if (reply.Arn === undefined || parts === undefined || reply.Account === undefined) throw notAnAwsReply(question);
  return { arn: reply.Arn, account: reply.Account, partition: parts.partition };
}

type AssumeOptions = {
  readonly roleArn: string;
  /** Name of the role's identity in messages. */
  readonly label: string;
  /** Default: `lance-catalog-check`. */
  readonly sessionName?: string | undefined;
  readonly externalId?: string | undefined;
  readonly hidden: SecretRedactor;
  readonly signal: AbortSignal;
};

/** Assumes a role for an hour. @throws ClusterError Forbidden if the role does not trust the identity */
export async function assumeRole(identity: AwsIdentity, options: AssumeOptions): Promise<AwsIdentity> {
  const { roleArn, label, externalId, hidden, signal } = options;
  const question = identity.question('sts:AssumeRole', `the role ${roleArn}`);
  const reply = await awsCall(question, () =>
    identity.sts.send(
      new AssumeRoleCommand({
        RoleArn: roleArn,
        RoleSessionName: options.sessionName ?? sessionName,
        ...definedEntries({ ExternalId: externalId }),
      }),
      { abortSignal: signal },
    ),
  );
  const keys = keysOfReply(reply.Credentials, question);
  hideKeys(keys, hidden);
  return new AwsIdentity({ label, keys, region: identity.region, profile: identity.profile });
}

/** The default name of a role session. The name appears in the logs of the AWS account. */
export const sessionName = 'lance-catalog-check';

type CredentialsReply =
  | {
      AccessKeyId?: string | undefined;
      SecretAccessKey?: string | undefined;
      SessionToken?: string | undefined;
      Expiration?: Date | undefined;
    }
  | undefined;

/** @throws ClusterError BadReply if the reply has no keys */
export function keysOfReply(reply: CredentialsReply, { action }: AwsQuestion): AwsKeys {
  const { AccessKeyId: accessKeyId, SecretAccessKey: secretAccessKey, SessionToken: sessionToken } = reply ?? {};
  if (!accessKeyId || !secretAccessKey || !sessionToken)
    throw new ClusterError('BadReply', `The reply of AWS to ${action} contains no credentials.`, '');
  return { accessKeyId, secretAccessKey, sessionToken, ...definedEntries({ expiration: reply?.Expiration }) };
}
