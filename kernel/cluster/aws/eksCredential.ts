import { Sha256 } from '@aws-crypto/sha256-js';
import { STSClient } from '@aws-sdk/client-sts';
import { SignatureV4 } from '@smithy/signature-v4';
import { type CredentialSource, renewing } from '#cluster/kube/credential.ts';
import type { ProfileOrigin } from '#cluster/profile.ts';
import type { SecretRedactor } from '#cluster/secretTexts.ts';
import { assumeRole, AwsIdentity, callerOf } from './awsIdentity.ts';
import { type AwsKeys, chainKeys } from './awsKeys.ts';
import { environmentKeys } from './environmentKeys.ts';
import { isSessionOf, roleArnOf } from './awsNames.ts';

/** A token for EKS. It is a signed request to STS; the cluster sends this request to find the caller's identity. */
type EksToken = { readonly token: string; readonly expiresAt: Date };

type EksTokenRequest = {
  readonly clusterName: string;
  readonly region: string;
  readonly keys: AwsKeys;
  /** The STS endpoint of the region. Its domain differs in partitions such as China. */
  readonly sts: URL;
  readonly now?: Date | undefined;
};

/**
 * Milliseconds that a token is used. A cluster accepts a token for 15 minutes; one minute less allows for clocks that
 * differ.
 */
const lifetime = 14 * 60_000;

/**
 * Creates the token that `aws eks get-token` would print, without that program.
 * The token is a presigned `GetCallerIdentity` request. It is valid for the named cluster only, because the signature
 * covers a header with the cluster's name.
 */
export async function signEksToken(request: EksTokenRequest): Promise<EksToken> {
  const { clusterName, region, keys, sts, now = new Date() } = request;
  const signer = new SignatureV4({ service: 'sts', region, credentials: keys, sha256: Sha256 });
  const signed = await signer.presign(
    {
      method: 'GET',
      protocol: sts.protocol,
      hostname: sts.hostname,
      ...(sts.port === '' ? {} : { port: Number(sts.port) }),
      path: '/',
      query: { Action: 'GetCallerIdentity', Version: '2011-06-15' },
      headers: { host: sts.host, 'x-k8s-aws-id': clusterName },
    },
    // The header must not become a part of the URL, because the cluster sends it as a header to verify the token.
    { expiresIn: 60, signingDate: now, unhoistableHeaders: new Set(['x-k8s-aws-id']) },
  );
  const { 'X-Amz-Security-Token': session, 'X-Amz-Signature': signature, ...rest } = signed.query ?? {};
  // The parameters have the order of the reference signer, so that the two results can be compared.
  const ordered = { ...rest, ...(session ? { 'X-Amz-Security-Token': session } : {}), 'X-Amz-Signature': signature };
  const query = Object.entries(ordered).map(([key, value]) => `${escapeQuery(key)}=${escapeQuery(String(value))}`);
  const address = `${sts.protocol}//${sts.host}/?${query.join('&')}`;
  const end = Math.min(now.getTime() + lifetime, keys.expiration?.getTime() ?? Infinity);
  return { token: `k8s-aws-v1.${Buffer.from(address).toString('base64url')}`, expiresAt: new Date(end) };
}

/** Encodes text according to RFC 3986, as in the signed request. */
const escapeQuery = (text: string): string =>
  encodeURIComponent(text).replace(/[!'()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`);

export type EksLogin = {
  readonly clusterName: string;
  readonly region: string;
  /** Name or ARN of a role to assume first. */
  readonly roleArn: string | undefined;
  /** A profile of `~/.aws/config`. */
  readonly profile: string | undefined;
  /** Where the cluster profile was found; set if its programs need the user's consent. */
  readonly foundIn?: ProfileOrigin | undefined;
  /** The name of the role's session. Access entries and trust policies may use it to distinguish users. */
  readonly sessionName?: string | undefined;
  /** The external id that the role's trust policy may require. */
  readonly externalId?: string | undefined;
  /**
   * The environment of the program that is replaced. It determines which principal signs. Default: the environment of
   * this process.
   */
  readonly environment?: Readonly<Record<string, string | undefined>> | undefined;
};

/**
 * Signs in to an EKS cluster as the user, or as a role that the user assumes.
 * Looks up the keys again for each token, so that a new sign-in takes effect.
 * @param firstKeys the keys for the first token, if the caller has already signed in to AWS
 */
export function eksCredential(
  login: EksLogin,
  { hidden }: { readonly hidden: SecretRedactor },
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

/** Returns the identity of a login. The caller closes it. @throws ClusterError */
export async function loginToAws(
  { region, roleArn: role, profile, foundIn, sessionName, externalId, environment }: EksLogin,
  { hidden, signal }: { readonly hidden: SecretRedactor; readonly signal: AbortSignal },
): Promise<AwsIdentity> {
  const keys = environment
    ? await environmentKeys({ region, profile, environment, foundIn, hidden, signal })
    : await chainKeys({ region, profile, hidden, foundIn });
  const person = new AwsIdentity({ label: 'you', keys, region, profile });
  if (role === undefined) return person;
  let login: AwsIdentity | undefined;
  try {
    const caller = await callerOf(person, signal);
    const roleArn = roleArnOf(role, caller);
    // If the caller is already a session of the role, the role is not assumed again, so it need not trust the caller.
    const isSession = sessionName === undefined && externalId === undefined && isSessionOf(caller.arn, roleArn);
    login = isSession
      ? person
      : await assumeRole(person, { roleArn, label: `the role ${roleArn}`, sessionName, externalId, hidden, signal });
    return login;
  } finally {
    if (login !== person) person.close();
  }
}

/** Returns the STS endpoint of the region. The cluster calls this endpoint even if this process uses another one. */
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
