import { isAbort, isCatalogError, messageOf } from '#shared/errors.ts';
import { runnerNames, type BackfillRequest, type RunnerName } from '#shared/jobs/backfill.ts';
import type { ComputedFunction } from '#shared/jobs/computedFunction.ts';
import { JobError } from '#shared/jobs/jobErrors.ts';
import type { LoadRunner } from '#jobs/runners/all.ts';
import type { Availability } from '#jobs/runners/runner.ts';

/** What runs a job, why, and what is to be said of the others. */
export type RunnerChoice = {
  readonly runner: RunnerName;
  readonly reason: string;
  readonly others: readonly ({ readonly runner: RunnerName } & Availability)[];
};

export type ChoosingRequest = BackfillRequest & { readonly function: ComputedFunction };

/** Which runners there are, and how one is loaded. */
export type Runners = { readonly known: readonly RunnerName[]; readonly load: LoadRunner };

/**
 * Picks the runner that a request names, or the best of those that can run it. A request that names a Ray names its runner
 * with it: a job meant for a cluster must not start on a laptop because the cluster can't be reached.
 * @throws JobError RunnerUnavailable with the reason of each, where none can; CatalogError where the table, or its version, is not there
 */
export async function chooseRunner(
  request: ChoosingRequest,
  runners: Runners,
  signal: AbortSignal,
): Promise<RunnerChoice> {
  const known = runnerNames.filter((name) => runners.known.includes(name));
  const given = request.runner ?? 'auto';
  // A notebook may give any text.
  if (given !== 'auto' && !known.includes(given)) throw noRunner(given, known);
  const asked = given === 'auto' && namesRay(request) ? 'ray' : given;
  const all = await Promise.all(known.map((name) => availabilityOf(name, request, runners, signal)));
  const picked = asked === 'auto' ? pick(request, all) : all.find(({ runner }) => runner === asked);
  if (!picked?.isPossible) throw unavailable(asked, picked, all);
  const others = all.filter((each) => each !== picked);
  return { runner: picked.runner, reason: asked === 'auto' ? picked.reason : 'It was asked for.', others };
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
    // It is wrong for all of them, and what is wrong would be lost among their reasons.
    if (isCatalogError(error, 'TableNotFound') || isCatalogError(error, 'VersionNotFound')) throw error;
    // That one can't be asked keeps nobody from running by another.
    return { runner, isPossible: false, reason: messageOf(error) };
  }
}

/** The first that can, in an order that depends on what was asked for. */
function pick(request: ChoosingRequest, all: readonly Found[]): Found | undefined {
  const possible = (name: RunnerName): Found | undefined =>
    all.find(({ runner, isPossible }) => runner === name && isPossible);
  return preferred(request)
    .map(possible)
    .find((found) => found !== undefined);
}

/** A function of the server runs on the server only, whatever Ray is named. */
const namesRay = ({ ray, function: fn }: ChoosingRequest): boolean => ray !== undefined && fn.kind !== 'server';

/** A function of the server runs there only. Otherwise the runner that starts at once and needs nothing comes first. */
const preferred = ({ function: fn }: ChoosingRequest): readonly RunnerName[] =>
  fn.kind === 'server' ? ['rest'] : ['local', 'local-python'];

const noRunner = (asked: string, known: readonly RunnerName[]): JobError =>
  new JobError(
    'RunnerUnavailable',
    `There is no runner "${asked}".`,
    `Use auto, ${known.join(', ')}, or leave it out.`,
  );

function unavailable(asked: RunnerName | 'auto', picked: Found | undefined, all: readonly Found[]): JobError {
  const possible = all.filter(({ isPossible }) => isPossible).map(({ runner }) => `"${runner}"`);
  if (asked !== 'auto') {
    const why = picked ? ` ${picked.reason}` : '';
    const hint =
      possible.length > 0 ? `Set the runner to ${possible.join(' or ')} to run it there.` : 'See to that first.';
    return new JobError('RunnerUnavailable', `The runner "${asked}" can't run this.${why}`, hint);
  }
  const reasons = all.map(({ runner, reason }) => `${runner}: ${reason}`);
  return new JobError(
    'RunnerUnavailable',
    `No runner can run this. ${reasons.join(' ')}`,
    possible.length > 0 ? `Name ${possible.join(' or ')} to use it all the same.` : 'See to one of them.',
  );
}
