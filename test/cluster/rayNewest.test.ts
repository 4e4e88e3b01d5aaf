import { newestRay } from '../harness/rayNeeds.ts';
import { RayWorld } from './parts/rayWorld.ts';
import { testRayFaults } from './parts/testRayFaults.ts';
import { testRayJobs } from './parts/testRayJobs.ts';
import { testRayProcess } from './parts/testRayProcess.ts';
import { testRayResumes } from './parts/testRayResumes.ts';
import { testRayRuns } from './parts/testRayRuns.ts';
import { testRayWriters } from './parts/testRayWriters.ts';

suite(`A real Ray ${newestRay}:`, function () {
  this.timeout(300_000);
  let world: RayWorld;
  const ray = (): RayWorld => world;

  suiteSetup(async () => {
    world = await RayWorld.start(newestRay);
  });
  suiteTeardown(() => world?.stop());

  testRayRuns(ray, newestRay);
  testRayFaults(ray, newestRay);
  testRayWriters(ray);
  testRayResumes(ray);
  testRayJobs(ray);
  testRayProcess(ray);
});
