import assert from 'node:assert/strict';
import type { CheckContext } from '#cluster/check.ts';
import { profileChecks } from '#cluster/checks/profileChecks.ts';
import { readProfile } from '#cluster/profiles/profileReader.ts';
import { runChecks } from '#cluster/runChecks.ts';
import { SecretRedactor } from '#cluster/secretTexts.ts';

/** Returns status and message of each check of a profile. These checks send no request. */
async function verdicts(value: unknown): Promise<Record<string, string>> {
  const context = { profile: readProfile('prod', value) } as unknown as CheckContext;
  const { signal } = new AbortController();
  const { results } = await runChecks(profileChecks, context, {
    profile: 'prod',
    signal,
    mayWrite: false,
    hidden: new SecretRedactor(),
  });
  return Object.fromEntries(results.map(({ id, status, sentence }) => [id, `${status}: ${sentence}`]));
}

const eks = { configMethod: 'EKS_AUTH', clusterName: 'ml', region: 'us-east-1', roleName: 'client' };

suite('What is said of a profile before anybody is asked', () => {
  test('is that a profile without a cloud is complete, and names no storage', async () => {
    const found = await verdicts({});
    assert.match(found['profile-complete'] ?? '', /^pass: .*, without storage\.$/);
    assert.match(found['bucket-uri'] ?? '', /^skipped: The profile has no storage\./);
  });

  for (const [name, value, missing] of [
    ['EKS without a bucket', eks, /storage/],
    [
      'a context of EKS',
      { context: 'arn:aws:eks:us-east-1:123456789012:cluster/ml', storage: 's3://lake' },
      /does not set aws \(region/,
    ],
    ['a context of GKE', { context: 'gke_project_us-central1_ml', storage: 'gs://lake' }, /does not set gcp \(project/],
    ['a bucket of Google alone', { storage: 'gs://lake' }, /does not set gcp/],
  ] as const)
    test(`is what is left out of a profile for ${name}, as a warning`, async () => {
      const found = (await verdicts(value))['profile-complete'] ?? '';
      assert.match(found, /^warn: /);
      assert.match(found, missing);
    });

  test('is that a bucket of the other cloud is wrong', async () => {
    assert.match(
      (await verdicts({ ...eks, storage: 'gs://lake' }))['bucket-uri'] ?? '',
      /^fail: The bucket gs:\/\/lake is not in AWS, but the cluster is, according to configMethod "EKS_AUTH"/,
    );
    const gcp = { project: 'project-1', location: 'us-central1', clusterName: 'ml' };
    assert.match(
      (await verdicts({ gcp, storage: 's3://lake' }))['bucket-uri'] ?? '',
      /^fail: .* is not in Google Cloud/,
    );
    assert.match((await verdicts({ gcp, storage: 'gs://lake' }))['bucket-uri'] ?? '', /^pass: /);
  });
});
