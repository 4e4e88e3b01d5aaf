import { createHash } from 'node:crypto';
import { CatalogError } from '#shared/errors.ts';
import type { Access } from './keys.ts';

/** The folder of a table in a bucket. Its keys start with `prefix`, which ends with a slash. */
export type BucketFolder = { readonly bucket: string; readonly prefix: string };

const s3Address = /^s3:\/\/([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])(?:\/(.*))?$/is;

/** Whether the tables below a root are in S3, so that credentials for them can be vended. */
export const isInS3 = (root: string): boolean => s3Address.test(root);

/**
 * Characters that stand for themselves both in the keys of objects and in policies. Engines escape other characters in
 * keys in different ways, and `*`, `?` and `${` would make a policy cover other tables.
 */
const plainPath = /^[A-Za-z0-9_.$=@+,:/-]+$/;

/**
 * Returns the folder of a table that is below the root of its database.
 * @param table for errors
 * @throws CatalogError InvalidInput (13) for another location, and for a path with characters that a policy can't name
 */
export function folderOfTable(root: string, location: string, table: string): BucketFolder {
  const refuse = (why: string): CatalogError =>
    new CatalogError(
      'InvalidInput',
      `Can't vend credentials for table "${table}": ${why}.`,
      'Open its files with your own credentials, or read it through this server.',
    );
  const base = `${root.replace(/\/+$/, '')}/`;
  const inside = location.startsWith(base) ? location.slice(base.length).replace(/\/+$/, '') : '';
  if (inside === '') throw refuse('its files are not in a folder below the root of the database');
  const [, bucket = '', path = ''] = s3Address.exec(`${base}${inside}`) ?? [];
  const strange = Array.from(path).find((char) => !plainPath.test(char));
  if (bucket === '') throw refuse('its files are not in S3');
  if (strange !== undefined) throw refuse(`the path of its files contains ${JSON.stringify(strange)}`);
  if (path.split('/').some((step) => step === '' || step === '.' || step === '..'))
    throw refuse('the path of its files has an empty step, "." or ".."');
  return { bucket, prefix: `${path}/` };
}

/**
 * `PutObject` writes data and commits, and `AbortMultipartUpload` removes the parts of a failed upload. `DeleteObject`
 * is missing on purpose: a write to a Lance table only adds files, and the server removes old versions itself
 * ("OptimizeTable"). So a client with these credentials can't delete the history of a table.
 */
const writeActions = ['s3:PutObject', 's3:AbortMultipartUpload'] as const;

const allow = (actions: readonly string[], resource: string, more: object = {}) => ({
  Effect: 'Allow',
  Action: actions,
  Resource: resource,
  ...more,
});

/** The longest session policy that STS accepts, in characters. */
const longestPolicy = 2048;

/**
 * Returns a session policy that limits a role to the folder of one table. The prefix ends with a slash, so that the
 * policy for `orders` does not cover `orders2`.
 * @param partition of the ARNs: `aws`, `aws-cn`, …
 * @throws CatalogError InvalidInput (13) if the path is too long for a policy
 */
export function tablePolicy(
  { bucket, prefix }: BucketFolder,
  access: Access,
  partition: string,
  table: string,
): string {
  const bucketArn = `arn:${partition}:s3:::${bucket}`;
  const actions = ['s3:GetObject', 's3:GetObjectVersion', ...(access === 'read-write' ? writeActions : [])];
  const policy = JSON.stringify({
    Version: '2012-10-17',
    Statement: [
      allow(actions, `${bucketArn}/${prefix}*`),
      allow(['s3:ListBucket'], bucketArn, { Condition: { StringLike: { 's3:prefix': `${prefix}*` } } }),
      allow(['s3:GetBucketLocation'], bucketArn),
    ],
  });
  if (policy.length <= longestPolicy) return policy;
  throw new CatalogError(
    'InvalidInput',
    `Can't vend credentials for table "${table}": the path of its files is too long for a session policy.`,
    'Open its files with your own credentials, or read it through this server.',
  );
}

/**
 * Returns the name of a session in the logs of the AWS account: the API key, the table, and a digest of both, because
 * long names are cut. It contains no secret, as the holder of the credentials can read it.
 */
export function sessionNameOf(key: string, table: readonly string[], location: string): string {
  const digest = createHash('sha256')
    .update(JSON.stringify([key, location]))
    .digest('hex')
    .slice(0, 10);
  return `${sessionNamePart(key, 24)}=${sessionNamePart(table.join('.'), 27)}=${digest}`;
}

const sessionNamePart = (text: string, most: number): string => text.replaceAll(/[^\w+,.@-]/g, '-').slice(0, most);
