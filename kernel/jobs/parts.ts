// What notebooks and terminals need of backfills: a bundle of its own, loaded by `import()` when somebody asks for it, since
// it brings the engine, a compiler and a bundler along. Types are imported from their own files.
export { readFunction } from './definition/functionSource.ts';
export { functionHash } from './definition/hash.ts';
export { storedFunction } from './definition/registration.ts';
export { openJobFile } from './jobFile.ts';
export { onCatalog } from './openCatalog.ts';
export { serverJobs } from './server/serverJobs.ts';
export { withConsent } from './service/consent.ts';
export { launchProblem } from './service/launchChecks.ts';
export { openJobs } from './service/openJobs.ts';
