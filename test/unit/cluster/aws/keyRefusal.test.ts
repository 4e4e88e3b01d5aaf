import assert from 'node:assert/strict';
import { awsError, keyRefusalOf } from '#cluster/aws/awsErrors.ts';
import { kmsKeyFix } from '#cluster/aws/awsFixes.ts';

suite('A refusal of S3', () => {
  const question = { action: 's3:PutObject', thing: 's3://b/k', as: 'the client role' };
  const refusal = (message: string) =>
    keyRefusalOf(
      awsError(
        Object.assign(new Error(message), { name: 'AccessDenied', $metadata: { httpStatusCode: 403 } }),
        question,
      ),
    );
  const key = 'arn:aws-us-gov:kms:us-gov-west-1:123456789012:key/11111111-2222-3333-4444-555555555555';

  test('is about the key of the bucket where its sentence names one, and its mend is a right to that key', () => {
    const found = refusal(
      `User: arn:aws-us-gov:sts::1:assumed-role/r/s is not authorized to perform: kms:GenerateDataKey on resource: ${key} because no identity-based policy allows the kms:GenerateDataKey action`,
    );
    assert.deepEqual(found, { action: 'kms:GenerateDataKey', key });
    const mend = kmsKeyFix('arn:aws-us-gov:iam::123456789012:role/r', found);
    assert.ok(mend.kind === 'document' && mend.text.includes(`"Resource": "${key}"`));
  });

  test('is about the key where it does not say which', () => {
    const text =
      'User: u is not authorized to perform: kms:Decrypt on the resource associated with this ciphertext because …';
    assert.deepEqual(refusal(text), { action: 'kms:Decrypt', key: '*' });
  });

  test('is about the bucket else', () => {
    const text = 'User: u is not authorized to perform: s3:PutObject on resource: "arn:aws:s3:::b/k" because …';
    assert.equal(refusal(text), undefined);
    assert.equal(refusal('Access Denied'), undefined);
  });
});
