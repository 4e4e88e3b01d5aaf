import { STSClient } from '@aws-sdk/client-sts';
import { renewing, type CredentialSource } from '#cluster/kube/credential.ts';
import type { HiddenTexts } from '#cluster/hiddenText.ts';
import { AwsIdentity, assumeRole, callerOf } from './awsIdentity.ts';
import { chainKeys, type AwsKeys } from './awsKeys.ts';
import { isSessionOf, roleArnOf } from './awsNames.ts';
import { signEksToken } from './eksToken.ts';

export type EksLogin = {
  readonly clusterName: string;
  readonly region: string;
  /** Name or ARN of a role to assume first. */
  readonly roleArn: string | undefined;
  /** A profile of `~/.aws/config`. */
  readonly profile: string | undefined;
};

/**
 * Signs in to an EKS cluster as the person, or as a role that they assume. Keys are looked up anew for each token, so that
 * whoever signs in again meanwhile is not left with the old ones.
 * @param firstKeys for the first token, where somebody has signed in already
 */
export function eksCredential(
  login: EksLogin,
  { hidden }: { readonly hidden: HiddenTexts },
  firstKeys?: AwsKeys,
): CredentialSource {
  let given = firstKeys;
  return renewing(async (signal) => {
    const keys = given ?? (await keysOfLogin(login, { hidden, signal }));
    given = undefined;
    const token = await signEksToken({ ...login, keys, sts: stsOf(login.region) });
    hidden.add(token.token);
    return token;
  });
}

async function keysOfLogin(login: EksLogin, options: Parameters<typeof loginToAws>[1]): Promise<AwsKeys> {
  const identity = await loginToAws(login, options);
  identity.close();
  return identity.keys;
}

/** The identity that a login acts as; whoever gets it closes it. @throws ClusterError */
export async function loginToAws(
  { region, roleArn: role, profile }: EksLogin,
  { hidden, signal }: { readonly hidden: HiddenTexts; readonly signal: AbortSignal },
): Promise<AwsIdentity> {
  const person = new AwsIdentity({ label: 'you', keys: await chainKeys({ region, profile, hidden }), region, profile });
  if (role === undefined) return person;
  let login: AwsIdentity | undefined;
  try {
    const caller = await callerOf(person, signal);
    const roleArn = roleArnOf(role, caller);
    // Who is the role already need not be trusted by it.
    login = isSessionOf(caller.arn, roleArn)
      ? person
      : await assumeRole(person, { roleArn, label: `the role ${roleArn}`, hidden, signal });
    return login;
  } finally {
    if (login !== person) person.close();
  }
}

/** The region's own STS: whatever endpoint our calls take, the cluster asks there. */
export function stsOf(region: string): URL {
  const client = new STSClient({ region });
  const { url } = client.config.endpointProvider({
    Region: region,
    UseDualStack: false,
    UseFIPS: false,
    UseGlobalEndpoint: false,
  });
  client.destroy();
  return url;
}
