import assert from 'node:assert/strict';
import { join } from 'node:path';
import type { ClusterError } from '#cluster/errors.ts';
import { RayJobs } from '#cluster/ray/rayJobs.ts';
import { temporaryFolder } from '../../scripts/processes.ts';
import { newestRay } from '../harness/rayNeeds.ts';
import { RayHead } from './parts/rayHead.ts';
import { lengthFunction, runOnRay } from './parts/rayRun.ts';
import { compareLengths, makeTextTable } from './parts/rayTable.ts';

suite('A real Ray that wants a token', function () {
  this.timeout(240_000);
  const token = 'a-token-of-this-test-that-nobody-else-has';
  let head: RayHead;

  suiteSetup(async () => {
    head = await RayHead.start(newestRay, { token });
  });

  suiteTeardown(() => head?.stop());

  async function versionWith(given: string | undefined): Promise<string> {
    const jobs = new RayJobs({ address: head.address, token: given });
    try {
      return (await jobs.version(AbortSignal.timeout(60_000))).version;
    } finally {
      await jobs.close();
    }
  }

  test('answers who shows it', async () => {
    assert.equal(await versionWith(token), newestRay);
  });

  test('is told apart from one that is not there when no token is shown', async () => {
    await assert.rejects(versionWith(undefined), { kind: 'CredentialsMissing', status: 401 });
  });

  test('says that another token is not accepted, and not which it was', async () => {
    await assert.rejects(versionWith('another-token'), (error: ClusterError) => {
      assert.deepEqual([error.kind, error.status], ['CredentialsRefused', 403]);
      assert.doesNotMatch(error.message, /another-token/);
      return true;
    });
  });

  test('runs a backfill for who shows it', async () => {
    const uri = join(temporaryFolder('rt-'), 'texts.lance');
    await makeTextTable(uri, 1000, 2);
    const ray = { address: head.address, token };
    const run = runOnRay({ ray, uri, column: 'length', function: lengthFunction('length', 'sql') });
    await run.ended;
    assert.deepEqual(await compareLengths(uri, 'length'), { rows: 1000, nulls: 0, wrong: 0, fragments: 2 });
    assert.doesNotMatch(JSON.stringify([run.events, run.log(), [...run.kept]]), new RegExp(token));
  });

  test('keeps a backfill without it from beginning, in a sentence', async () => {
    const run = runOnRay({
      ray: { address: head.address },
      uri: '/t',
      column: 'c',
      function: lengthFunction('c', 'sql'),
    });
    await assert.rejects(run.ended, { kind: 'RayRefused', message: /it wants a token, and got none.* Give the token/ });
  });
});
