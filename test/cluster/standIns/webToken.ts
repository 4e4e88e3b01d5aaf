import { createPublicKey, verify, type JsonWebKey } from 'node:crypto';

/** Public keys of a token issuer, as published. */
export type KeySet = { readonly keys: readonly (JsonWebKey & { readonly kid?: string })[] };

/** The claims of a token whose signature was verified. */
export type Claims = {
  readonly iss: string;
  readonly sub: string;
  readonly aud: readonly string[];
  readonly exp: number;
};

/**
 * Verifies a token of an issuer.
 * @throws Error with the reason, in the words of usual verifiers
 */
export function verifyToken(token: string, issuer: string, { keys }: KeySet): Claims {
  const [head = '', body = '', signature = ''] = token.split('.');
  const { kid, alg } = partOf(head);
  const claims = partOf(body);
  if (claims['iss'] !== issuer) throw new Error('The issuer in ID Token did not match the expected ones.');
  const key = keys.find((one) => one.kid === kid);
  if (alg !== 'RS256' || !key) throw new Error('Invalid ID Token signature: there is no such key.');
  const signed = Buffer.from(`${head}.${body}`);
  const isSigned = verify(
    'RSA-SHA256',
    signed,
    createPublicKey({ key, format: 'jwk' }),
    Buffer.from(signature, 'base64url'),
  );
  if (!isSigned) throw new Error('Invalid ID Token signature.');
  const { iss, sub, aud, exp } = claims as { iss: string; sub: string; aud: string | string[]; exp: number };
  if (exp * 1000 < Date.now()) throw new Error('ID Token is expired.');
  return { iss, sub, aud: [aud].flat(), exp };
}

function partOf(text: string): Record<string, unknown> {
  try {
    return JSON.parse(Buffer.from(text, 'base64url').toString('utf8')) as Record<string, unknown>;
  } catch {
    throw new Error('The ID Token is no token.');
  }
}
