import assert from 'node:assert/strict';
import { type BucketSettings, readBucketSettings } from '#cluster/aws/bucketSettings.ts';

const keys = { aws_access_key_id: 'id', aws_secret_access_key: 'secret' };

function settingsOf(uri: string, options: Record<string, string> = {}, env: NodeJS.ProcessEnv = {}): BucketSettings {
  const settings = readBucketSettings(uri, options, env);
  if (typeof settings === 'string') assert.fail(settings);
  return settings;
}

suite('settings by which a table in a bucket is reached', () => {
  test('name the bucket and the key of the table in it', () => {
    const { bucket, prefix } = settingsOf('s3://b/folder/t.lance/');
    assert.deepEqual([bucket, prefix], ['b', 'folder/t.lance']);
  });

  test('are known by each of the names that the engine takes', () => {
    for (const options of [
      { aws_access_key_id: 'id', aws_secret_access_key: 'secret', aws_session_token: 'token', aws_region: 'eu-west-1' },
      { access_key_id: 'id', secret_access_key: 'secret', session_token: 'token', region: 'eu-west-1' },
      { awsAccessKeyId: 'id', awsSecretAccessKey: 'secret', awsSessionToken: 'token', awsRegion: 'eu-west-1' },
      { AWS_ACCESS_KEY_ID: 'id', AWS_SECRET_ACCESS_KEY: 'secret', AWS_SESSION_TOKEN: 'token', AWS_REGION: 'eu-west-1' },
    ]) {
      const { keys: found, region } = settingsOf('s3://b/t.lance', options);
      assert.deepEqual([found, region], [{ id: 'id', secret: 'secret', token: 'token' }, 'eu-west-1']);
    }
  });

  test('come from the environment where the connection has none, and there only by the names of AWS', () => {
    const env = { AWS_REGION: 'eu-west-1', REGION: 'mars', ENDPOINT: 'http://127.0.0.1:1' };
    const { region, endpoint } = settingsOf('s3://b/t.lance', {}, env);
    assert.deepEqual([region, endpoint], ['eu-west-1', undefined]);
    assert.equal(settingsOf('s3://b/t.lance', { region: 'us-west-2' }, {}).region, 'us-west-2');
  });

  test('put the bucket into the path at an endpoint of their own, unless they say otherwise', () => {
    const own = { ...keys, endpoint: 'http://127.0.0.1:9000' };
    assert.equal(settingsOf('s3://b/t.lance', own).isPathStyle, true);
    const virtual = { ...own, aws_virtual_hosted_style_request: 'true' };
    assert.equal(settingsOf('s3://b/t.lance', virtual).isPathStyle, false);
    assert.equal(settingsOf('s3://b/t.lance', keys).isPathStyle, false);
  });

  test('ask for the encryption that the bucket insists on', () => {
    const options = { aws_server_side_encryption: 'aws:kms', aws_sse_kms_key_id: 'arn:key' };
    assert.deepEqual(settingsOf('s3://b/t.lance', options).encryption, { kind: 'aws:kms', key: 'arn:key' });
  });

  for (const [what, options] of [
    ['are anonymous', { aws_skip_signature: 'true' }],
    ['take a role of their own', { aws_role_arn: 'arn:aws:iam::1:role/r' }],
    ['encrypt with a key of the person', { aws_server_side_encryption: 'sse-c' }],
    ['go through a proxy of their own', { proxy_url: 'http://127.0.0.1:1' }],
  ] as const) {
    test(`that ${what} are not ours, and a sentence says so`, () => {
      const why = readBucketSettings('s3://b/t.lance', options, {});
      assert.ok(typeof why === 'string');
      assert.match(why, /^The .*\.$/);
    });
  }
});
