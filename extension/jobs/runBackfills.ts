import type { BackfillRequest } from '#shared/jobs/backfill.ts';
import type { ComputedColumn } from '#shared/jobs/computedFunction.ts';
import type { BackfillPlan, BackfillTrial } from '#shared/jobs/jobPlan.ts';
import type { JobsHost } from './jobsHost.ts';
import type { ClusterPlace } from './launchGate.ts';

type BackfillsParts = {
  readonly host: Pick<JobsHost, 'request'>;
  /** Shows the code of a stored function, and asks whether it may run on this machine. */
  readonly askConsent: (stored: ComputedColumn, request: BackfillRequest) => Promise<boolean>;
  /** Whether a cluster is fit, or the person wants to launch all the same. */
  readonly mayLaunchOn: (place: ClusterPlace, signal: AbortSignal) => Promise<boolean>;
};

/** How long nobody is asked again about a cluster, in milliseconds: from its plan a person goes on to a trial and the run. */
const fitFor = 120_000;

/** Backfills as the editor starts them: no code that came with a table runs before a person has seen and accepted it. */
export class Backfills {
  readonly #parts: BackfillsParts;
  /** Clusters that were found fit, or taken as they are, and when. */
  readonly #fit = new Map<string, number>();

  constructor(parts: BackfillsParts) {
    this.#parts = parts;
  }

  /**
   * Runs no code of anybody. A cluster is verified first: what it lacks says more than that its Ray can't be reached.
   * @returns `undefined` when a cluster is not fit for it, and the person leaves it at that @throws JobError, CatalogError
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
   * Starts a job. A function that was given is kept on the table, so that the next one needs nothing else.
   * @returns `undefined` when the person does not want the function to run, or a cluster is not fit for it
   * @throws JobError, CatalogError
   */
  async start(
    request: BackfillRequest,
    signal: AbortSignal,
  ): Promise<{ readonly id: string; readonly joined: boolean } | undefined> {
    if (!(await this.#mayRun(request, signal)) || !(await this.#isFit(request, signal))) return undefined;
    // It was given on this machine: the next backfill of the column need not ask about it.
    if (request.function) await this.#parts.host.request('accept', { hash: request.function.hash }, signal);
    return this.#parts.host.request('start', request, signal);
  }

  /** Whether the cluster that a job is sent to is fit for it, or the person wants it all the same. */
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
    // Whoever gives a function here and now has decided that it runs.
    if (request.function) return true;
    const columns = await this.#parts.host.request('computedColumns', { table }, signal);
    const stored = columns.find((one) => one.column === column);
    // Where there is none, the job says so better than we could. An expression can only compute, and what only a server has
    // does not run here.
    if (!stored || stored.function.kind === 'server' || stored.function.kind === 'sql') return true;
    const { hash } = stored.function;
    if (request.allowStoredCode?.includes(hash)) return true;
    if (await this.#parts.host.request('isAccepted', { hash }, signal)) return true;
    if (!(await this.#parts.askConsent(stored, request))) return false;
    signal.throwIfAborted();
    await this.#parts.host.request('accept', { hash }, signal);
    return true;
  }
}
