import type { RunnerName } from '#shared/jobs/backfill.ts';
import { JobError } from '#shared/jobs/jobErrors.ts';
import { runnerWords } from '#shared/jobs/jobLabels.ts';
import { loadPart } from '#shared/loadPart.ts';
import type { Runner } from './runner.ts';

/** Loads a runner; tests pass their own. */
export type LoadRunner = (name: RunnerName) => Promise<Runner>;

// Lazy, because each runner has its own dependencies.
const loaders: { readonly [N in RunnerName]?: () => Promise<Runner> } = {
  local: async () => (await loadPart(() => import('./localRunner.ts'))).localRunner,
  'local-python': async () => (await loadPart(() => import('./pythonRunner.ts'))).localPythonRunner,
  ray: async () => (await loadPart(() => import('#jobs/runners/ray/rayRunner.ts'))).rayRunner,
  rest: async () => (await loadPart(() => import('#jobs/runners/rest/restRunner.ts'))).restRunner,
};

export const knownRunners = Object.keys(loaders) as RunnerName[];

/** @throws JobError RunnerUnavailable if the runner does not exist */
export const loadRunner: LoadRunner = async (name) => {
  const load = loaders[name];
  if (load) return load();
  const there = knownRunners.map((one) => `"${one}" (${runnerWords[one]})`).join(', ');
  throw new JobError('RunnerUnavailable', `There is no runner "${name}".`, `Use one of ${there}.`);
};
