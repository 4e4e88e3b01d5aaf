import type { BackfillRequest } from '#shared/jobs/backfill.ts';
import type { ComputedColumn } from '#shared/jobs/computedFunction.ts';
import type { BackfillPlan, BackfillTrial } from '#shared/jobs/jobPlan.ts';
import type { JobsHost } from './jobsHost.ts';
import type { LaunchTarget } from './launchGate.ts';

type BackfillsDeps = {
  readonly host: Pick<JobsHost, 'request'>;
  readonly askConsent: (stored: ComputedColumn, request: BackfillRequest, signal: AbortSignal) => Promise<boolean>;
  /** Whether a cluster passes its checks, or the user launches anyway. */
  readonly mayLaunchOn: (place: LaunchTarget, signal: AbortSignal) => Promise<boolean>;
};

/**
 * How long passed checks of a cluster are valid, in milliseconds. A user goes from the plan to a trial and then to the
 * run, and the checks need not be repeated at each step.
 */
const fitFor = 120_000;

/** Starts backfills in VS Code. Code stored with a table runs only after the user has seen and accepted it. */
export class Backfills {
  readonly #parts: BackfillsDeps;
  /** The time when each cluster passed its checks, or the user accepted their failures. */
  readonly #fit = new Map<string, number>();

  constructor(parts: BackfillsDeps) {
    this.#parts = parts;
  }

  /**
   * Plans a backfill without running user code. Checks the cluster first, because a failed check explains more than the
   * error that Ray is unreachable.
   * @returns `undefined` if checks of the cluster fail and the user cancels
   * @throws JobError, CatalogError
   */
  async plan(request: BackfillRequest, signal: AbortSignal): Promise<BackfillPlan | undefined> {
    if (!(await this.#isFit(request, signal))) return undefined;
    return this.#parts.host.request('plan', request, signal);
  }

  /** @returns `undefined` as `start` does @throws JobError, CatalogError */
  async try(request: BackfillRequest, signal: AbortSignal): Promise<BackfillTrial | undefined> {
    if (!(await this.#mayRun(request, signal)) || !(await this.#isFit(request, signal))) return undefined;
    return this.#parts.host.request('try', request, signal);
  }

  /**
   * Computes a few rows to show beside a plan. Only SQL is computed, because it can't run other code: a function in a
   * file or from a table runs only when the user tries or runs the backfill.
   * @throws JobError, CatalogError
   */
  async sample(
    { function: { kind }, rows }: BackfillPlan,
    request: BackfillRequest,
    signal: AbortSignal,
  ): Promise<BackfillTrial | undefined> {
    if (kind !== 'sql' || rows.toCompute.value + rows.reused.value === 0) return undefined;
    return this.#parts.host.request('sample', request, signal);
  }

  /**
   * Starts a job. Stores a given function with the table, so that the next request need not contain the function.
   * @returns `undefined` if the user refuses the function, or checks of the cluster fail and the user cancels
   * @throws JobError, CatalogError
   */
  async start(
    request: BackfillRequest,
    signal: AbortSignal,
  ): Promise<{ readonly id: string; readonly joined: boolean } | undefined> {
    if (!(await this.#mayRun(request, signal)) || !(await this.#isFit(request, signal))) return undefined;
    // The user supplied the function on this machine, so the next backfill of the column need not ask for consent.
    if (request.function) await this.#parts.host.request('accept', { hash: request.function.hash }, signal);
    return this.#parts.host.request('start', request, signal);
  }

  /** Whether the cluster of a job passes its checks, or the user launches anyway. */
  async #isFit({ ray }: BackfillRequest, signal: AbortSignal): Promise<boolean> {
    if (!ray || !('profile' in ray)) return true;
    const place = JSON.stringify([ray.profile, ray.rayCluster]);
    if (Date.now() - (this.#fit.get(place) ?? 0) < fitFor) return true;
    if (!(await this.#parts.mayLaunchOn(ray, signal))) return false;
    this.#fit.set(place, Date.now());
    return true;
  }

  async #mayRun(request: BackfillRequest, signal: AbortSignal): Promise<boolean> {
    const { table, column } = request;
    // A function that the user supplies now needs no further consent.
    if (request.function) return true;
    const columns = await this.#parts.host.request('computedColumns', { table }, signal);
    const stored = columns.find((one) => one.column === column);
    // The job itself reports a missing function. SQL expressions can't run other code, and server functions don't run
    // here.
    if (!stored || stored.function.kind === 'server' || stored.function.kind === 'sql') return true;
    const { hash } = stored.function;
    if (request.allowStoredCode?.includes(hash)) return true;
    if (await this.#parts.host.request('isAccepted', { hash }, signal)) return true;
    const isAccepted = await this.#parts.askConsent(stored, request, signal);
    signal.throwIfAborted();
    if (!isAccepted) return false;
    await this.#parts.host.request('accept', { hash }, signal);
    return true;
  }
}
