import assert from 'node:assert/strict';
import type { CheckReport, CheckStatus } from '#cluster/result.ts';
import { faults, rightsTaken } from '../parts/awsFaults.ts';
import { account, region } from '../parts/moto.ts';
import { aws, type SoundAws, startSoundAws } from '../parts/soundAws.ts';
import { doMend } from '../standIns/awsCliStandIn.ts';

const differences = ({ results }: CheckReport): Record<string, CheckStatus> =>
  Object.fromEntries(results.filter(({ status }) => status !== 'pass').map(({ id, status }) => [id, status]));

suite('A fault in an account of AWS', function () {
  this.timeout(60_000);
  let sound: SoundAws;
  suiteSetup(async function () {
    this.timeout(120_000);
    sound = await startSoundAws();
  });
  suiteTeardown(() => sound.stop());
  teardown(async () => {
    await sound.restore();
    await sound.moto.empty(aws.bucket);
  });

  for (const { name, plant, profile: change, expect, says, mend } of [...faults, ...rightsTaken])
    test(`is found: ${name}`, async () => {
      await plant(sound);
      const profile = change?.(sound.profile) ?? sound.profile;
      const report = await sound.verify({ profile });
      assert.deepEqual(differences(report), expect);
      const first = report.results.find(({ id }) => id in expect && expect[id] !== 'blocked');
      assert.match(first?.sentence ?? '', says);
      if (mend === undefined) return;
      for (const id of mend) {
        const { results } = await sound.verify({ profile, only: [id] });
        const result = results.find((one) => one.id === id);
        assert.ok(result && 'mend' in result && result.mend, `${id} gives no mend.`);
        await doMend(sound, result.mend);
      }
      assert.deepEqual(differences(await sound.verify({ profile })), {});
    });

  test('of the region is found: a bucket in another one', async () => {
    await sound.moto.bucket('geneva-elsewhere', 'us-west-2');
    const storage = { scheme: 's3', bucket: 'geneva-elsewhere', prefix: '' } as const;
    const { results } = await sound.verify({ profile: { ...sound.profile, storage }, only: ['aws-region'] });
    const found = results.find(({ id }) => id === 'aws-region');
    assert.equal(found?.status, 'warn');
    assert.equal(
      found.sentence,
      `The bucket geneva-elsewhere is in us-west-2, but the cluster is in ${region}: all rows travel between the regions.`,
    );
  });

  test('is not what a person may not see, where the client may', async () => {
    sound.eks.refused.add(sound.alice.accessKeyId);
    assert.deepEqual(differences(await sound.verify()), {});
  });

  test('leaves what was allowed before: a mend adds to a trust policy', async () => {
    const bob = { ...sound.clientTrust, Principal: { AWS: `arn:aws:iam::${account}:user/bob` } };
    await sound.moto.setTrust('geneva-client', bob);
    const { results } = await sound.verify({ only: ['aws-assume-client'] });
    const result = results.find(({ id }) => id === 'aws-assume-client');
    assert.ok(result && 'mend' in result && result.mend);
    await doMend(sound, result.mend);
    const { Statement: statements } = JSON.parse((await sound.moto.trust('geneva-client')) ?? '') as {
      Statement: unknown[];
    };
    assert.deepEqual(statements, [bob, sound.clientTrust]);
  });
});
