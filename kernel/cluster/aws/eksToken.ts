import { Sha256 } from '@aws-crypto/sha256-js';
import { SignatureV4 } from '@smithy/signature-v4';
import type { AwsKeys } from './awsKeys.ts';

/** What EKS takes for a password: a signed question to STS, which the cluster asks in our place to learn who we are. */
export type EksToken = { readonly token: string; readonly expiresAt: Date };

export type EksTokenRequest = {
  readonly clusterName: string;
  readonly region: string;
  readonly keys: AwsKeys;
  /** Address of STS in the region, which differs in partitions such as China. */
  readonly sts: URL;
  readonly now?: Date | undefined;
};

/** How long a cluster takes a token for: a quarter of an hour, less a minute for clocks that differ. */
const lifetime = 14 * 60_000;

/**
 * The token that `aws eks get-token` would print, without that program. It is a presigned `GetCallerIdentity`, good for the
 * named cluster alone, since that name is a header among what is signed.
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
    // Sent as a header by whoever verifies the token, so it must not become part of the address.
    { expiresIn: 60, signingDate: now, unhoistableHeaders: new Set(['x-k8s-aws-id']) },
  );
  const { 'X-Amz-Security-Token': session, 'X-Amz-Signature': signature, ...rest } = signed.query ?? {};
  // In the order of upstream's signer, so that the two can be compared.
  const ordered = { ...rest, ...(session ? { 'X-Amz-Security-Token': session } : {}), 'X-Amz-Signature': signature };
  const query = Object.entries(ordered).map(([key, value]) => `${escapeQuery(key)}=${escapeQuery(String(value))}`);
  const address = `${sts.protocol}//${sts.host}/?${query.join('&')}`;
  const end = Math.min(now.getTime() + lifetime, keys.expiration?.getTime() ?? Infinity);
  return { token: `k8s-aws-v1.${Buffer.from(address).toString('base64url')}`, expiresAt: new Date(end) };
}

/** As RFC 3986 has it, since that is what was signed. */
const escapeQuery = (text: string): string =>
  encodeURIComponent(text).replace(/[!'()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`);
