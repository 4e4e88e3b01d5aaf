import { messageOf } from '#shared/errors.ts';
import type { ClusterError } from '#cluster/errors.ts';

/** What was refused with a key of KMS, and its ARN. */
export type KeyRefusal = { readonly action: string; readonly key: string };

/**
 * S3 refuses with one and the same code whether a right to the bucket is missing or one to the key that encrypts it: its sentence
 * tells them apart. `undefined` where it is not the key.
 */
export function keyRefusalOf({ cause }: ClusterError): KeyRefusal | undefined {
  const parts =
    /perform: (kms:\w+) on(?: the)? resource(?: associated with this ciphertext)?:? *"?(arn:[\w-]+:kms:[\w:/-]+)?/.exec(
      messageOf(cause),
    );
  return parts?.[1] === undefined ? undefined : { action: parts[1], key: parts[2] ?? '*' };
}
