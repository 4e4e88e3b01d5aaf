import assert from 'node:assert/strict';
import { matchesPattern, type PolicyDocument, readPolicy } from '#cluster/aws/policyDocument.ts';
import { readCallerTrust, readWebIdentityTrust } from '#cluster/aws/trustPolicy.ts';

type Statement = Readonly<Record<string, unknown>>;

const policy = (...statements: readonly Statement[]): PolicyDocument => {
  const read = readPolicy(encodeURIComponent(JSON.stringify({ Version: '2012-10-17', Statement: statements })));
  assert.ok(read);
  return read;
};

const issuer = 'oidc.eks.eu-west-1.amazonaws.com/id/ABC';
const pods = {
  providerArn: `arn:aws:iam::123456789012:oidc-provider/${issuer}`,
  issuer,
  audience: 'sts.amazonaws.com',
  subject: 'system:serviceaccount:geneva:runner',
};
const toPods = (Condition?: Statement, more: Statement = {}): Statement => ({
  Effect: 'Allow',
  Principal: { Federated: pods.providerArn },
  Action: 'sts:AssumeRoleWithWebIdentity',
  ...(Condition === undefined ? {} : { Condition }),
  ...more,
});
const sub = (value: unknown, operator = 'StringEquals'): Statement => ({ [operator]: { [`${issuer}:sub`]: value } });

const readPods = (...statements: readonly Statement[]) => readWebIdentityTrust(policy(...statements), pods);
const allows = (...statements: readonly Statement[]): string => readPods(...statements).allows;

/** Returns whether a principal of a statement is the caller. */
const reading = (principal: unknown, caller: string): string =>
  readCallerTrust(policy({ Effect: 'Allow', Principal: principal, Action: 'sts:AssumeRole' }), caller).allows;

suite('A trust policy', () => {
  test('lets a service account in by its subject, in each way of writing that', () => {
    assert.equal(allows(toPods(sub(pods.subject))), 'yes');
    assert.equal(allows(toPods(sub(['other', pods.subject]))), 'yes');
    assert.equal(allows(toPods(sub('system:serviceaccount:geneva:*', 'StringLike'))), 'yes');
    assert.equal(allows(toPods(sub('system:serviceaccount:geneva:runne?', 'StringLike'))), 'yes');
    assert.equal(allows(toPods(sub([pods.subject], 'ForAnyValue:StringEquals'))), 'yes');
    assert.equal(allows(toPods(sub(pods.subject.toUpperCase(), 'StringEqualsIgnoreCase'))), 'yes');
  });

  test('takes no star of StringEquals for a wildcard', () => {
    const { allows: answer, problems } = readPods(toPods(sub('system:serviceaccount:geneva:*')));
    assert.equal(answer, 'no');
    assert.deepEqual(problems, [`${issuer}:sub must be "system:serviceaccount:geneva:*", but is "${pods.subject}"`]);
  });

  test('allows by one of its statements what others do not', () => {
    assert.equal(allows(toPods(sub('system:serviceaccount:other:other')), toPods(sub(pods.subject))), 'yes');
  });

  test('denies by one of its statements what others allow', () => {
    assert.equal(allows(toPods(sub(pods.subject)), toPods(undefined, { Effect: 'Deny' })), 'no');
    assert.equal(allows(toPods(sub(pods.subject)), toPods(sub('another'), { Effect: 'Deny' })), 'yes');
  });

  test('without a statement for the exchange says so', () => {
    const { allows: answer, problems } = readPods(toPods(undefined, { Action: 'sts:AssumeRole' }));
    assert.equal(answer, 'no');
    assert.deepEqual(problems, ['no statement allows sts:AssumeRoleWithWebIdentity']);
    assert.equal(allows(toPods(sub(pods.subject), { Action: 'sts:assumerolewithwebidentity' })), 'yes');
    assert.equal(allows(toPods(sub(pods.subject), { Action: 'sts:*' })), 'yes');
  });

  test('for the issuer of another cluster names both', () => {
    const other = { StringEquals: { 'oidc.eks.eu-west-1.amazonaws.com/id/XYZ:sub': pods.subject } };
    const { allows: answer, problems } = readPods(toPods(other));
    assert.equal(answer, 'no');
    assert.match(problems.join(), /it requires .*XYZ:sub, but the issuer is .*ABC/);
  });

  test('with conditions that are not followed is neither sure to allow nor to refuse', () => {
    assert.equal(allows(toPods({ ...sub(pods.subject), IpAddress: { 'aws:SourceIp': '10.0.0.0/8' } })), 'unsure');
    assert.equal(allows({ Effect: 'Allow', NotPrincipal: { AWS: 'x' }, Action: '*' }), 'no');
  });

  test('that holds the subject to nothing is open to the cluster, and one without any condition to everybody', () => {
    assert.match(readPods(toPods()).open ?? '', /every service account of the cluster/);
    assert.match(readPods(toPods(sub('system:*', 'StringLike'))).open ?? '', /every service account of the cluster/);
    assert.equal(readPods(toPods(sub('system:serviceaccount:geneva:*', 'StringLike'))).open, undefined);
    assert.match(readPods(toPods(undefined, { Principal: '*' })).open ?? '', /every identity/);
  });

  test('names a caller by their ARN, their account, or the role of their session', () => {
    const alice = 'arn:aws:iam::123456789012:user/alice';
    assert.equal(reading({ AWS: alice }, alice), 'yes');
    assert.equal(reading({ AWS: ['arn:aws:iam::123456789012:user/bob', '123456789012'] }, alice), 'yes');
    assert.equal(reading({ AWS: 'arn:aws:iam::123456789012:root' }, alice), 'yes');
    assert.equal(reading({ AWS: 'arn:aws:iam::999999999999:root' }, alice), 'no');
    const session = 'arn:aws:sts::123456789012:assumed-role/dev/alice';
    assert.equal(reading({ AWS: 'arn:aws:iam::123456789012:role/team/dev' }, session), 'yes');
    assert.equal(reading({ AWS: 'arn:aws:iam::123456789012:role/ops' }, session), 'no');
    assert.equal(reading({ Service: 'eks.amazonaws.com' }, alice), 'no');
  });

  test('that every principal may use is distinguished from one with a condition', () => {
    const anybody = { Effect: 'Allow', Principal: '*', Action: 'sts:AssumeRole' };
    const alice = 'arn:aws:iam::123456789012:user/alice';
    assert.match(readCallerTrust(policy(anybody), alice).open ?? '', /every identity in any AWS account/);
    const Condition = { StringEquals: { 'aws:PrincipalOrgID': 'o-1' } };
    assert.equal(readCallerTrust(policy({ ...anybody, Condition }), alice).open, undefined);
  });

  test('that is not a valid policy is ignored', () => {
    for (const text of ['', '%7B', '[]', '"*"', '<html></html>', '%E0%A4%A'])
      assert.equal(readPolicy(text), undefined, text);
  });

  test('takes what is special to regular expressions as it is', () => {
    assert.ok(matchesPattern('a.b*[c]', 'a.bxx[c]'));
    assert.ok(!matchesPattern('a.b', 'axb'));
    assert.ok(matchesPattern('*', ''));
  });
});
