import { STSClient } from '@aws-sdk/client-sts';
import type { HiddenTexts } from '#cluster/hiddenText.ts';
import { AwsIdentity, assumeRole, callerOf } from './awsIdentity.ts';
import { chainKeys, type AwsKeys } from './awsKeys.ts';
import { roleArnOf } from './awsNames.ts';
import { signEksToken, type EksToken } from './eksToken.ts';

export type EksLogin = {
  readonly clusterName: string;
  readonly region: string;
  /** Name or ARN of a role to assume first. */
  readonly roleArn: string | undefined;
  /** A profile of `~/.aws/config`. */
  readonly profile: string | undefined;
};

type Credential = { readonly token: string; readonly expiresAt: Date };

/**
 * Signs in to an EKS cluster as the person, or as a role that they assume. Keys are looked up anew for each token, so that
 * whoever signs in again meanwhile is not left with the old ones.
 * @param firstKeys for the first token, where somebody has signed in already
 */
export function eksCredential(
  login: EksLogin,
  { hidden }: { readonly hidden: HiddenTexts },
  firstKeys?: AwsKeys,
): (signal: AbortSignal) => Promise<Credential> {
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

/** A minute before its end a token is made anew, so that none ends on its way. */
const margin = 60_000;

/** Keeps a token while it holds; requests that come while one is made wait for it. */
function renewing(make: (signal: AbortSignal) => Promise<EksToken>): (signal: AbortSignal) => Promise<EksToken> {
  let last: EksToken | undefined;
  let making: Promise<EksToken> | undefined;
  return async (signal) => {
    if (last && last.expiresAt.getTime() - Date.now() > margin) return last;
    making ??= make(signal).finally(() => {
      making = undefined;
    });
    last = await making;
    return last;
  };
}

/** The identity that a login acts as; whoever gets it closes it. @throws ClusterError */
export async function loginToAws(
  login: EksLogin,
  { hidden, signal }: { readonly hidden: HiddenTexts; readonly signal: AbortSignal },
): Promise<AwsIdentity> {
  const { region, roleArn: role, profile } = login;
  const person = new AwsIdentity({ label: 'you', keys: await chainKeys({ region, profile, hidden }), region, profile });
  if (role === undefined) return person;
  try {
    const roleArn = roleArnOf(role, await callerOf(person, signal));
    return await assumeRole(person, { roleArn, label: `the role ${roleArn}`, hidden, signal });
  } finally {
    person.close();
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
