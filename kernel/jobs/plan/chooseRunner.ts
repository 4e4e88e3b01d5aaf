import { isAbort, isCatalogError, messageOf } from '#shared/errors.ts';
import { runnerNames, type BackfillRequest, type RunnerName } from '#shared/jobs/backfill.ts';
import type { ComputedFunction } from '#shared/jobs/computedFunction.ts';
import { JobError } from '#shared/jobs/jobErrors.ts';
import type { LoadRunner } from '#jobs/runners/all.ts';
import type { Availability } from '#jobs/runners/runner.ts';

export type RunnerChoice = {
  readonly runner: RunnerName;
  readonly reason: string;
  readonly others: readonly ({ readonly runner: RunnerName } & Availability)[];
};

export type ChoosingRequest = BackfillRequest & { readonly function: ComputedFunction };

export type Runners = { readonly known: readonly RunnerName[]; readonly load: LoadRunner };

/**
 * Chooses the requested runner, or the best possible one. Ray settings without a runner mean Ray: if the cluster can't
 * be reached, a job for the cluster must not start on the user's laptop instead.
 * @throws JobError RunnerUnavailable with the reason of each runner if none is possible; CatalogError if the table or
 * its version does not exist
 */
export async function chooseRunner(
  request: ChoosingRequest,
  runners: Runners,
  signal: AbortSignal,
): Promise<RunnerChoice> {
  const known = runnerNames.filter((name) => runners.known.includes(name));
  const given = request.runner ?? 'auto';
  // The value is checked, because a notebook may pass any string.
  if (given !== 'auto' && !known.includes(given)) throw noRunner(given, known);
  const asked = given === 'auto' && namesRay(request) ? 'ray' : given;
  const all = await Promise.all(known.map((name) => availabilityOf(name, request, runners, signal)));
  const picked = asked === 'auto' ? pick(request, all) : all.find(({ runner }) => runner === asked);
  if (!picked?.isPossible) throw unavailable(asked, picked, all);
  const others = all.filter((each) => each !== picked);
  return { runner: picked.runner, reason: asked === 'auto' ? picked.reason : 'It was requested.', others };
}

type Found = { readonly runner: RunnerName } & Availability;

async function availabilityOf(
  runner: RunnerName,
  request: ChoosingRequest,
  { load }: Runners,
  signal: AbortSignal,
): Promise<Found> {
  try {
    return { runner, ...(await (await load(runner)).availability(request, signal)) };
  } catch (error) {
    if (isAbort(error) || signal.aborted) throw error;
    // This error applies to every runner, so it is thrown and not listed as the reason of one runner.
    if (isCatalogError(error, 'TableNotFound') || isCatalogError(error, 'VersionNotFound')) throw error;
    // If a runner can't be checked, its error is the reason; another runner may still be used.
    return { runner, isPossible: false, reason: messageOf(error) };
  }
}

function pick(request: ChoosingRequest, all: readonly Found[]): Found | undefined {
  const possible = (name: RunnerName): Found | undefined =>
    all.find(({ runner, isPossible }) => runner === name && isPossible);
  return preferred(request)
    .map(possible)
    .find((found) => found !== undefined);
}

/** Whether the request means Ray. A server function runs only on the catalog server, even with Ray settings. */
const namesRay = ({ ray, function: fn }: ChoosingRequest): boolean => ray !== undefined && fn.kind !== 'server';

/** Returns the runners that "auto" tries, in order. "local" is first, because it needs no other software. */
const preferred = ({ function: fn }: ChoosingRequest): readonly RunnerName[] =>
  fn.kind === 'server' ? ['rest'] : ['local', 'local-python'];

const noRunner = (asked: string, known: readonly RunnerName[]): JobError =>
  new JobError('RunnerUnavailable', `There is no runner "${asked}".`, `Use auto, ${known.join(', ')}, or omit it.`);

function unavailable(asked: RunnerName | 'auto', picked: Found | undefined, all: readonly Found[]): JobError {
  const possible = all.filter(({ isPossible }) => isPossible).map(({ runner }) => `"${runner}"`);
  if (asked !== 'auto') {
    const why = picked ? ` ${picked.reason}` : '';
    const hint =
      possible.length > 0 ? `Set the runner to ${possible.join(' or ')} to run it there.` : 'Fix this first.';
    return new JobError('RunnerUnavailable', `The runner "${asked}" can't run this.${why}`, hint);
  }
  const reasons = all.map(({ runner, reason }) => `${runner}: ${reason}`);
  return new JobError(
    'RunnerUnavailable',
    `No runner can run this. ${reasons.join(' ')}`,
    possible.length > 0 ? `Name ${possible.join(' or ')} to use it anyway.` : 'Fix one of these problems.',
  );
}
