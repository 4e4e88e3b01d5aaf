import type { RunnerName } from '#shared/jobs/backfill.ts';
import { JobError } from '#shared/jobs/jobErrors.ts';
import { runnerWords } from '#shared/jobs/jobLabels.ts';
import { loadPart } from '#shared/loadPart.ts';
import type { Runner } from './runner.ts';

/** How a process comes by its runners; tests give others. */
export type LoadRunner = (name: RunnerName) => Promise<Runner>;

// Each is loaded when a job is run by it: none needs what the others do.
const loaders: { readonly [N in RunnerName]?: () => Promise<Runner> } = {
  local: async () => (await loadPart(() => import('./localRunner.ts'))).localRunner,
  'local-python': async () => (await loadPart(() => import('./pythonRunner.ts'))).localPythonRunner,
  ray: async () => (await loadPart(() => import('#jobs/runners/ray/rayRunner.ts'))).rayRunner,
  rest: async () => (await loadPart(() => import('#jobs/runners/rest/restRunner.ts'))).restRunner,
};

/** The runners that there are. */
export const knownRunners = Object.keys(loaders) as RunnerName[];

/** @throws JobError RunnerUnavailable */
export const loadRunner: LoadRunner = async (name) => {
  const load = loaders[name];
  if (load) return load();
  const there = knownRunners.map((one) => `"${one}" (${runnerWords[one]})`).join(', ');
  throw new JobError('RunnerUnavailable', `There is no runner "${name}".`, `Use one of ${there}.`);
};
