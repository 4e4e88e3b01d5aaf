import type { CatalogErrorKind } from '#shared/errors.ts';
import type { Rule } from './engineText.ts';

// What comes of an object store is an answer of its own with addresses, request numbers and now and then the key in it.
// None of that goes into a sentence: what is said is said by these words alone.

const keyHint = 'Check the key and the secret in the storage options or in the environment.';

const rule = (pattern: RegExp, kind: CatalogErrorKind, what: string, hint: string): Rule => ({
  // Only an answer of a store; a table or a filter may hold these words too.
  pattern: new RegExp(
    String.raw`Generic \{ store: "(\w+)"[^]*(?:${pattern.source})|Generic (\w+) error: [^]*(?:${pattern.source})`,
  ),
  kind,
  say: () => [what, hint],
});

/** What the engine tells of an object store. */
export const storeRules: readonly Rule[] = [
  rule(
    /<Code>(?:SignatureDoesNotMatch|InvalidAccessKeyId|InvalidToken|AuthenticationFailed)<|ExpiredToken|InvalidAuthenticationInfo/,
    'PermissionDenied',
    'The object store does not know this key, or its secret is another one.',
    keyHint,
  ),
  rule(
    /<Code>(?:AccessDenied|AuthorizationFailure|AuthorizationPermissionMismatch)<|status: 403|\b403 Forbidden/,
    'PermissionDenied',
    'The object store refused access with this key.',
    'Ask for the rights to list, read and write under this root.',
  ),
  rule(
    /<Code>(?:NoSuchBucket|ContainerNotFound)<|bucket does not exist/,
    'InvalidInput',
    'The object store has no bucket of that name.',
    'Correct the root, or make the bucket.',
  ),
  rule(
    /ResolveRegion/,
    'InvalidInput',
    'The region of the bucket could not be found out.',
    'Give aws_region, and aws_endpoint for a store of your own, in the storage options.',
  ),
  rule(
    /status: 401|\b401 Unauthorized|MissingCredentials|CredentialsNotLoaded|no providers in chain/,
    'Unauthenticated',
    'There is no key for the object store.',
    keyHint,
  ),
  rule(
    /SlowDown|status: 429|TooManyRequests/,
    'Throttling',
    'The object store asks for fewer requests.',
    'Try again later.',
  ),
  rule(
    /Connect\b|[Cc]onnection (?:refused|reset|closed)|dns error|timed out|tcp connect|status: 50[0234]/,
    'ServiceUnavailable',
    'The object store can not be reached.',
    'Check its address in the root or in the storage options, and the network.',
  ),
];
