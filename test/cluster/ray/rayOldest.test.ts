import { oldestRay } from '../../harness/needs/rayNeeds.ts';
import { RayWorld, replaceAfterFailure } from '../parts/rayWorld.ts';
import { testForwardedRay } from './testForwardedRay.ts';
import { testRayFaults } from './testRayFaults.ts';
import { testRayJobs } from './testRayJobs.ts';
import { testRayRuns } from './testRayRuns.ts';
import { testRayWriters } from './testRayWriters.ts';

suite(`A real Ray ${oldestRay}:`, function () {
  this.timeout(300_000);
  let world: RayWorld;
  const ray = (): RayWorld => world;

  suiteSetup(async () => {
    world = await RayWorld.start(oldestRay);
  });
  suiteTeardown(() => world?.stop());
  replaceAfterFailure(ray);

  testRayRuns(ray, oldestRay);
  testRayFaults(ray, oldestRay);
  testRayWriters(ray);
  testRayJobs(ray);
  testForwardedRay(ray);
});
