import { oldestRay } from '../harness/rayNeeds.ts';
import { RayWorld } from './parts/rayWorld.ts';
import { testForwardedRay } from './parts/testForwardedRay.ts';
import { testRayFaults } from './parts/testRayFaults.ts';
import { testRayJobs } from './parts/testRayJobs.ts';
import { testRayRuns } from './parts/testRayRuns.ts';
import { testRayWriters } from './parts/testRayWriters.ts';

suite(`A real Ray ${oldestRay}:`, function () {
  this.timeout(300_000);
  let world: RayWorld;
  const ray = (): RayWorld => world;

  suiteSetup(async () => {
    world = await RayWorld.start(oldestRay);
  });
  suiteTeardown(() => world?.stop());

  testRayRuns(ray, oldestRay);
  testRayFaults(ray, oldestRay);
  testRayWriters(ray);
  testRayJobs(ray);
  testForwardedRay(ray);
});
