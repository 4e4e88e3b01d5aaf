import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ClusterError } from '#cluster/errors.ts';
import { RayJobs } from '#cluster/ray/rayJobs.ts';
import { temporaryFolder } from '../../../scripts/processes.ts';
import { newestRay } from '../../harness/needs/rayNeeds.ts';
import { lengthFunction, runOnRay } from '../parts/rayRun.ts';
import { allRight, RayWorld, replaceAfterFailure } from '../parts/rayWorld.ts';
import { packagesFrom, testRayPackages } from './testRayPackages.ts';

suite('A real Ray that wants a token, and has an old Node and no network', function () {
  // Ray creates an environment for each list of packages, which takes a minute on a busy machine.
  this.timeout(400_000);
  const token = 'a-token-of-this-test-that-nobody-else-has';
  const folders = { wheels: temporaryFolder('wheels-'), modules: temporaryFolder('modules-') };
  let world: RayWorld;

  suiteSetup(async () => {
    const environment = packagesFrom(folders.wheels, folders.modules);
    // Put this `node` first on PATH, so that the test does not find another `node` of this machine.
    writeFileSync(join(folders.modules, 'node'), '#!/bin/sh\necho v18.20.0\n', { mode: 0o755 });
    world = await RayWorld.start(newestRay, { token, environment, path: folders.modules });
  });

  suiteTeardown(() => world?.stop());
  replaceAfterFailure(() => world);
  setup(() => world.renew());

  async function versionWith(given: string | undefined): Promise<string> {
    const jobs = new RayJobs({ address: world.head.address, token: given });
    try {
      return (await jobs.version(AbortSignal.timeout(60_000))).version;
    } finally {
      await jobs.close();
    }
  }

  test('answers who shows it', async () => {
    assert.equal(await versionWith(token), newestRay);
  });

  test('is distinguished from a missing Ray if no token is sent', async () => {
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
    await world.make(1000, 2);
    const run = world.begin({ function: lengthFunction('length', 'sql') });
    await run.ended;
    assert.deepEqual(await world.compare(), allRight(1000, 2));
    assert.doesNotMatch(JSON.stringify([run.events, run.log(), [...run.kept]]), new RegExp(token));
  });

  test('keeps a backfill without it from beginning, in a sentence', async () => {
    const run = runOnRay({
      ray: { address: world.head.address },
      uri: '/t',
      column: 'c',
      function: lengthFunction('c', 'sql'),
    });
    await assert.rejects(run.ended, {
      kind: 'RayRefused',
      message: /it requires a token, but none was sent.* Enter the token/,
    });
  });

  testRayPackages(() => world, folders);
});
