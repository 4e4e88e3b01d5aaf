import { readFile } from 'node:fs/promises';
import { ClusterError } from '#cluster/errors.ts';
import type { ProfileOrigin } from '#cluster/profile.ts';
import type { SecretRedactor } from '#cluster/secretTexts.ts';
import { type AwsKeys, chainKeys, hideKeys } from './awsKeys.ts';
import { assumeByWebIdentity } from './iamReads.ts';

type EnvironmentKeysOptions = {
  readonly region: string;
  /** The profile in the arguments of the program. It takes precedence over all variables. */
  readonly profile: string | undefined;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Where the cluster profile was found; set if its programs need the user's consent. */
  readonly foundIn: ProfileOrigin | undefined;
  readonly hidden: SecretRedactor;
  readonly signal: AbortSignal;
};

/**
 * Finds the keys that a program with this environment would sign with, in the order of the AWS SDK for Go. The order
 * is: a key in the variables, a web identity, a profile. AWS_PROFILE does not come before the first two.
 * @throws ClusterError CredentialsMissing or CredentialsExpired, or the refusal of STS
 */
export async function environmentKeys(options: EnvironmentKeysOptions): Promise<AwsKeys> {
  const { region, profile, environment, foundIn, hidden, signal } = options;
  const read = (name: string): string | undefined => environment[name] || undefined;
  if (profile === undefined) {
    const [accessKeyId, secretAccessKey] = [read('AWS_ACCESS_KEY_ID'), read('AWS_SECRET_ACCESS_KEY')];
    if (accessKeyId !== undefined && secretAccessKey !== undefined) {
      const sessionToken = read('AWS_SESSION_TOKEN');
      const keys = { accessKeyId, secretAccessKey, ...(sessionToken === undefined ? {} : { sessionToken }) };
      hideKeys(keys, hidden);
      return keys;
    }
    const [file, roleArn] = [read('AWS_WEB_IDENTITY_TOKEN_FILE'), read('AWS_ROLE_ARN')];
    if (file !== undefined && roleArn !== undefined) {
      const token = await readToken(file, hidden);
      const sessionName = read('AWS_ROLE_SESSION_NAME');
      const identity = await assumeByWebIdentity({ roleArn, token, region, sessionName, hidden, signal });
      identity.close();
      return identity.keys;
    }
  }
  const files = { filepath: read('AWS_SHARED_CREDENTIALS_FILE'), configFilepath: read('AWS_CONFIG_FILE') };
  return chainKeys({ region, profile: profile ?? read('AWS_PROFILE'), files, foundIn, hidden });
}

async function readToken(file: string, hidden: SecretRedactor): Promise<string> {
  try {
    const token = (await readFile(file, 'utf8')).trim();
    hidden.add(token);
    return token;
  } catch (cause) {
    throw new ClusterError(
      'CredentialsMissing',
      `Can't read ${file}, which AWS_WEB_IDENTITY_TOKEN_FILE names.`,
      'Correct the variable in the environment or in the kubeconfig.',
      { cause },
    );
  }
}
