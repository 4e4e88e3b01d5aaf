import { settingName } from '#catalog/identity.ts';

/** How to reach the bucket of a table, read from the table's Lance settings. */
export type BucketSettings = {
  readonly bucket: string;
  /** The path of the table in the bucket, without a slash at either end. */
  readonly prefix: string;
  readonly region: string | undefined;
  /** Set for a store that is not AWS, or for a custom endpoint. */
  readonly endpoint: string | undefined;
  readonly isPathStyle: boolean;
  /** The keys in the settings; if there are none, the user's own keys are used, as in the AWS command line. */
  readonly keys: { readonly id: string; readonly secret: string; readonly token: string | undefined } | undefined;
  /** The encryption to request. Some buckets refuse objects without the right encryption. */
  readonly encryption:
    { readonly kind: 'AES256' | 'aws:kms' | 'aws:kms:dsse'; readonly key: string | undefined } | undefined;
};

/**
 * Settings that change the identity or the connection. Only Lance supports them, so this process can't access the files
 * of a table with such a setting.
 */
const notOurs = [
  'aws_role_arn',
  'aws_web_identity_token_file',
  'aws_container_credentials_relative_uri',
  'aws_container_credentials_full_uri',
  'proxy_url',
  'proxy_ca_certificate',
  'allow_invalid_certificates',
  'aws_sse_customer_key_base64',
] as const;

/**
 * Reads the URI of a table in S3, or in a compatible store, and its Lance settings.
 * Settings that are missing are read from the environment, as Lance does.
 * @returns the settings, or a sentence that says why files can't be reached that way
 */
export function readBucketSettings(
  uri: string,
  storageOptions: Readonly<Record<string, string>>,
  env: Readonly<NodeJS.ProcessEnv>,
): BucketSettings | string {
  const [, bucket, path = ''] = /^s3a?:\/\/([^/?#]+)(?:\/([^?#]*))?/.exec(uri) ?? [];
  if (bucket === undefined) return 'The table is not in an S3 bucket.';
  const given = new Map(Object.entries(storageOptions).map(([name, value]) => [settingName(name), value]));
  const option = (...names: readonly string[]): string | undefined => {
    for (const name of names) {
      // From the environment, Lance reads only variables that start with AWS.
      const value = given.get(name) || (name.startsWith('aws_') ? env[name.toUpperCase()] : undefined);
      if (value) return value;
    }
    return undefined;
  };
  if (/^true$/i.test(option('aws_skip_signature', 'skip_signature') ?? ''))
    return "The bucket is accessed with unsigned requests, which can't write to it.";
  const strange = notOurs.find((name) => given.has(name) || given.has(name.replace(/^aws_/, '')));
  if (strange !== undefined) return `The storage option "${strange}" is supported by the engine only.`;
  const kind = option('aws_server_side_encryption');
  if (kind !== undefined && kind !== 'AES256' && kind !== 'aws:kms' && kind !== 'aws:kms:dsse')
    return `The storage encryption "${kind}" is supported by the engine only.`;
  const id = option('aws_access_key_id', 'access_key_id');
  const secret = option('aws_secret_access_key', 'secret_access_key');
  const token = option('aws_session_token', 'aws_token', 'session_token', 'token');
  const endpoint = option('aws_endpoint', 'aws_endpoint_url', 'endpoint', 'endpoint_url');
  const isVirtual = option('aws_virtual_hosted_style_request', 'virtual_hosted_style_request');
  return {
    bucket,
    prefix: path.replaceAll(/^\/+|\/+$/g, ''),
    region: option('aws_region', 'region', 'aws_default_region', 'default_region'),
    endpoint,
    isPathStyle: endpoint !== undefined && !/^true$/i.test(isVirtual ?? ''),
    keys: id !== undefined && secret !== undefined ? { id, secret, token } : undefined,
    encryption: kind && { kind, key: option('aws_sse_kms_key_id') },
  };
}
