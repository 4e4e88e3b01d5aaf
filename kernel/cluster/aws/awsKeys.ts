import { STSClient } from '@aws-sdk/client-sts';
import type { ProfileOrigin } from '#cluster/profile.ts';
import { requireTrustedStep } from '#cluster/profiles/programTrust.ts';
import { definedEntries } from '#shared/records.ts';
import type { SecretRedactor } from '#cluster/secretTexts.ts';
import { awsCall } from './awsErrors.ts';
import { type AwsFiles, awsPrograms } from './awsPrograms.ts';
import { awsTransport } from './awsTransport.ts';

/** An access key. Reports hide all its parts, even the key id, because readers of a report need none of them. */
export type AwsKeys = {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
  readonly expiration?: Date;
};

export const hideKeys = (keys: AwsKeys, hidden: SecretRedactor): void =>
  hidden.add(keys.accessKeyId, keys.secretAccessKey, keys.sessionToken);

type ChainOptions = {
  readonly region: string;
  /** A profile of `~/.aws/config`. Default: the profile that AWS_PROFILE names, else the profile `default`. */
  readonly profile?: string | undefined;
  readonly hidden: SecretRedactor;
  /** Where the cluster profile was found; set if its programs need the user's consent. */
  readonly foundIn: ProfileOrigin | undefined;
  /** The configuration files of AWS. Default: the files that this process uses. */
  readonly files?: AwsFiles | undefined;
};

/**
 * Finds the user's own keys as the AWS command line does: in the environment, `~/.aws`, a single sign-on session, a
 * program, a container, or the machine.
 * @throws ClusterError CredentialsMissing, CredentialsExpired or ProgramNotTrusted
 */
export async function chainKeys({ region, profile, hidden, foundIn, files = {} }: ChainOptions): Promise<AwsKeys> {
  if (foundIn) for (const program of await awsPrograms(foundIn, profile, files)) requireTrustedStep(program);
  // The cache of the library is not used, because an editor stays open for days and the user may sign in between two
  // runs.
  const requestHandler = awsTransport();
  const options = { region, ignoreCache: true, requestHandler, ...definedEntries({ ...files, profile }) };
  const client = new STSClient(options);
  try {
    const about = { action: 'credentials', thing: 'your AWS credentials', as: 'you', profile };
    const keys = await awsCall(about, () => client.config.credentials());
    hideKeys(keys, hidden);
    return keys;
  } finally {
    client.destroy();
  }
}
