import assert from 'node:assert/strict';
import { bucketPolicyFix, callerTrustFix, describeRoleFix } from '#cluster/aws/awsFixes.ts';
import { readPolicy } from '#cluster/aws/policyDocument.ts';
import type { Fix } from '#cluster/fixes/fix.ts';

const role = 'arn:aws:iam::123456789012:role/team/geneva-client';
const trust = readPolicy('{"Statement": [{"Effect": "Allow", "Principal": {"AWS": "1"}, "Action": "sts:AssumeRole"}]}');
const place = { scheme: 's3', bucket: 'geneva-data', prefix: '' } as const;

/** Returns the statements of the document in a fix. */
function statementsOf(mend: Fix): readonly Readonly<Record<string, unknown>>[] {
  assert.ok(mend.kind === 'document');
  return (JSON.parse(mend.text) as { Statement: Readonly<Record<string, unknown>>[] }).Statement;
}

suite('What mends an account of AWS', () => {
  test('names a user by their ARN, after those who are trusted already', () => {
    const alice = 'arn:aws:iam::123456789012:user/alice';
    const statements = statementsOf(callerTrustFix(role, alice, trust));
    assert.deepEqual(statements[0], trust?.written[0]);
    assert.deepEqual(statements[1], { Effect: 'Allow', Principal: { AWS: alice }, Action: 'sts:AssumeRole' });
  });

  test('names a session by its role', () => {
    const [, statement] = statementsOf(
      callerTrustFix(role, 'arn:aws-cn:sts::123456789012:assumed-role/dev/alice', trust),
    );
    assert.deepEqual(statement?.['Principal'], { AWS: 'arn:aws-cn:iam::123456789012:role/dev' });
  });

  test('names the role of a single sign-on, whose path no session shows, by a condition', () => {
    const session = 'arn:aws:sts::123456789012:assumed-role/AWSReservedSSO_Dev_0123456789abcdef/alice@example.com';
    const [, statement] = statementsOf(callerTrustFix(role, session, trust));
    assert.deepEqual(statement, {
      Effect: 'Allow',
      Principal: { AWS: 'arn:aws:iam::123456789012:root' },
      Condition: {
        ArnLike: {
          'aws:PrincipalArn':
            'arn:aws:iam::123456789012:role/aws-reserved/sso.amazonaws.com/*AWSReservedSSO_Dev_0123456789abcdef',
        },
      },
      Action: 'sts:AssumeRole',
    });
  });

  test('replaces no trust policy that could not be read', () => {
    const mend = callerTrustFix(role, 'arn:aws:iam::123456789012:user/alice', undefined);
    assert.ok(mend.kind === 'document');
    assert.match(mend.command, /^aws iam get-role --role-name geneva-client /);
  });

  test('gives rights to roles alone, and else says whom to ask', () => {
    const alice = 'arn:aws:iam::123456789012:user/alice';
    const cluster = 'arn:aws:eks:eu-west-1:123456789012:cluster/geneva';
    assert.equal(describeRoleFix(role, 'eu-west-1', cluster).kind, 'document');
    assert.deepEqual(bucketPolicyFix(alice, place, 'put'), {
      kind: 'advice',
      text: 'Ask the administrator of the AWS account for s3:PutObject on arn:aws:s3:::geneva-data/*.',
    });
  });

  test('lists a bucket by the bucket, and writes objects by what is in it, in the partition of the role', () => {
    const china = role.replace('arn:aws', 'arn:aws-cn');
    assert.equal(statementsOf(bucketPolicyFix(china, place, 'list'))[0]?.['Resource'], 'arn:aws-cn:s3:::geneva-data');
    const tables = { ...place, prefix: 'tables' };
    assert.equal(
      statementsOf(bucketPolicyFix(role, tables, 'get'))[0]?.['Resource'],
      'arn:aws:s3:::geneva-data/tables/*',
    );
  });
});
