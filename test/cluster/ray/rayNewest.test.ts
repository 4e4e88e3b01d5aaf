import { newestRay } from '../../harness/needs/rayNeeds.ts';
import { RayWorld, replaceAfterFailure } from '../parts/rayWorld.ts';
import { testRayFaults } from './testRayFaults.ts';
import { testRayJobs } from './testRayJobs.ts';
import { testRayProcess } from './testRayProcess.ts';
import { testRayResumes } from './testRayResumes.ts';
import { testRayRuns } from './testRayRuns.ts';
import { testRayWriters } from './testRayWriters.ts';

suite(`A real Ray ${newestRay}:`, function () {
  this.timeout(300_000);
  let world: RayWorld;
  const ray = (): RayWorld => world;

  suiteSetup(async () => {
    world = await RayWorld.start(newestRay);
  });
  suiteTeardown(() => world?.stop());
  replaceAfterFailure(ray);

  testRayRuns(ray, newestRay);
  testRayFaults(ray, newestRay);
  testRayWriters(ray);
  testRayResumes(ray);
  testRayJobs(ray);
  testRayProcess(ray);
});
