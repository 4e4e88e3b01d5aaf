import type { RunnerName } from '#shared/jobs/backfill.ts';
import { JobError } from '#shared/jobs/jobErrors.ts';
import { runnerLabels } from '#shared/jobs/jobLabels.ts';
import { loadLazy } from '#shared/loadLazy.ts';
import type { Runner } from './runner.ts';

/** Loads a runner; tests pass their own. */
export type LoadRunner = (name: RunnerName) => Promise<Runner>;

// Loaded lazily, because each runner has its own dependencies.
const loaders: { readonly [N in RunnerName]?: () => Promise<Runner> } = {
  local: async () => (await loadLazy(() => import('./localRunner.ts'))).localRunner,
  'local-python': async () => (await loadLazy(() => import('./pythonRunner.ts'))).localPythonRunner,
  ray: async () => (await loadLazy(() => import('#jobs/runners/ray/rayRunner.ts'))).rayRunner,
  rest: async () => (await loadLazy(() => import('#jobs/runners/rest/restRunner.ts'))).restRunner,
};

export const knownRunners = Object.keys(loaders) as RunnerName[];

/** @throws JobError RunnerUnavailable if the runner does not exist */
export const loadRunner: LoadRunner = async (name) => {
  const load = loaders[name];
  if (load) return load();
  const there = knownRunners.map((one) => `"${one}" (${runnerLabels[one]})`).join(', ');
  throw new JobError('RunnerUnavailable', `There is no runner "${name}".`, `Use one of ${there}.`);
};
