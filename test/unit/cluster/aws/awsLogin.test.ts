import assert from 'node:assert/strict';
import { isSessionOf, readArn, roleArnOf, roleNameOf } from '#cluster/aws/awsNames.ts';
import { signEksToken, stsOf } from '#cluster/aws/eksCredential.ts';
import { readEksPlugin } from '#cluster/aws/eksPlugin.ts';

const caller = { arn: 'arn:aws-cn:iam::123456789012:user/alice', account: '123456789012', partition: 'aws-cn' };

suite('Names of AWS', () => {
  test("a role's name is of the account and partition of whoever asks, with its path", () => {
    assert.equal(roleArnOf('team/geneva', caller), 'arn:aws-cn:iam::123456789012:role/team/geneva');
    assert.equal(roleNameOf('arn:aws:iam::123456789012:role/team/geneva'), 'geneva');
  });

  test("a role's ARN stays as it is, and another ARN is refused by name", () => {
    const arn = 'arn:aws:iam::210987654321:role/geneva';
    assert.equal(roleArnOf(arn, caller), arn);
    assert.throws(
      () => roleArnOf('arn:aws:iam::210987654321:user/bob', caller),
      /"arn:aws:iam::210987654321:user\/bob" is not the ARN of an IAM role/,
    );
  });

  test('a session belongs to the role of its name in its account, and to no other', () => {
    const session = 'arn:aws:sts::123456789012:assumed-role/geneva/alice';
    assert.ok(isSessionOf(session, 'arn:aws:iam::123456789012:role/team/geneva'));
    assert.ok(!isSessionOf(session, 'arn:aws:iam::210987654321:role/geneva'));
    assert.ok(!isSessionOf('arn:aws:iam::123456789012:user/geneva', 'arn:aws:iam::123456789012:role/geneva'));
  });

  test('colons in what an ARN names are kept, and what is no ARN is none', () => {
    assert.equal(readArn('arn:aws:s3:::bucket/a:b')?.resource, 'bucket/a:b');
    assert.equal(readArn('arn:aws'), undefined);
    assert.equal(readArn('geneva'), undefined);
  });
});

const entryWith = (env: Readonly<Record<string, string>>) => ({
  command: 'aws-iam-authenticator',
  args: ['token', '-i', 'prod', '--region', 'us-east-1'],
  env,
});

suite('The program that a kubeconfig has for EKS', () => {
  test('is read with its region and role, whether values follow or are joined by an equals sign', () => {
    const args = [
      '--region',
      'eu-west-1',
      'eks',
      'get-token',
      '--cluster-name=prod',
      '--role-arn',
      'arn:aws:iam::1:role/r',
    ];
    assert.deepEqual(readEksPlugin({ command: 'C:\\tools\\aws.exe', args, env: { AWS_PROFILE: 'work' } }), {
      clusterName: 'prod',
      region: 'eu-west-1',
      roleArn: 'arn:aws:iam::1:role/r',
      profile: undefined,
      sessionName: undefined,
      externalId: undefined,
      environment: { AWS_PROFILE: 'work' },
    });
  });

  test('may be the older authenticator, with the region in its environment', () => {
    const entry = { command: 'aws-iam-authenticator', args: ['token', '-i', 'prod'], env: { AWS_REGION: 'us-east-1' } };
    assert.deepEqual(readEksPlugin(entry), {
      clusterName: 'prod',
      region: 'us-east-1',
      roleArn: undefined,
      profile: undefined,
      sessionName: undefined,
      externalId: undefined,
      environment: entry.env,
    });
  });

  test('keeps the name of the session and the external id, and its own variables before those around it', () => {
    const args = ['token', '-i', 'prod', '-s', 'alice', '--external-id=id-1', '--cache'];
    const env = { AWS_REGION: 'us-east-1', AWS_ACCESS_KEY_ID: 'AKIDENTRY' };
    const login = readEksPlugin({ command: 'aws-iam-authenticator', args, env }, { AWS_ACCESS_KEY_ID: 'AKIDUSER' });
    assert.deepEqual([login?.sessionName, login?.externalId], ['alice', 'id-1']);
    assert.equal(login?.environment?.['AWS_ACCESS_KEY_ID'], 'AKIDENTRY');
  });

  test('is left alone where a variable of its own changes what can not be reproduced', () => {
    assert.equal(readEksPlugin(entryWith({ AWS_ENDPOINT_URL_STS: 'http://x' })), undefined);
    assert.equal(readEksPlugin(entryWith({ HOME: '/elsewhere' }), { HOME: '/home/me' }), undefined);
    assert.ok(
      readEksPlugin(entryWith({ HOME: '/home/me', AWS_STS_REGIONAL_ENDPOINTS: 'regional' }), { HOME: '/home/me' }),
    );
  });

  test('is left alone where it does something else, has a flag that is not known, or names no region', () => {
    const env = { AWS_REGION: 'us-east-1' };
    const read = (command: string, args: readonly string[], more = env) => readEksPlugin({ command, args, env: more });
    assert.equal(read('aws', ['sts', 'get-session-token']), undefined);
    assert.equal(read('aws', ['eks', 'get-token', '--cluster-name', 'p', '--endpoint-url', 'http://x']), undefined);
    assert.equal(read('gke-gcloud-auth-plugin', []), undefined);
    assert.equal(
      readEksPlugin({ command: 'aws', args: ['eks', 'get-token', '--cluster-name', 'p'], env: {} }),
      undefined,
    );
  });
});

suite('A token for EKS is made', () => {
  test("for the region's own STS, in its partition", () => {
    assert.equal(stsOf('eu-west-1').host, 'sts.eu-west-1.amazonaws.com');
    assert.equal(stsOf('cn-north-1').host, 'sts.cn-north-1.amazonaws.com.cn');
  });

  test('to end before the keys that signed it do', async () => {
    const now = new Date('2026-03-04T05:06:07Z');
    const sign = (expiration?: Date) =>
      signEksToken({
        clusterName: 'prod',
        region: 'eu-west-1',
        sts: stsOf('eu-west-1'),
        keys: { accessKeyId: 'AKIDEXAMPLE', secretAccessKey: 'secret', ...(expiration ? { expiration } : {}) },
        now,
      });
    assert.equal((await sign()).expiresAt.toISOString(), '2026-03-04T05:20:07.000Z');
    const soon = new Date('2026-03-04T05:10:00Z');
    assert.equal((await sign(soon)).expiresAt.getTime(), soon.getTime());
  });
});
