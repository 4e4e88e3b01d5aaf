import { chooseRunner, type ChoosingRequest, type Runners } from '#jobs/plan/chooseRunner.ts';
import type { BackfillRequest, RunnerName } from '#shared/jobs/backfill.ts';
import { functionOf } from './functionOf.ts';

/** A request with all decided that the process of the job could only decide too late to tell it to whoever asked. */
export type Prepared = {
  readonly request: ChoosingRequest;
  readonly runner: RunnerName;
  readonly runnerReason: string;
};

/**
 * Decides what a request leaves open: its function, and what runs it.
 * @throws JobError FunctionMissing, FunctionInvalid, FunctionNotAccepted, RunnerUnavailable; CatalogError
 */
export async function prepare(request: BackfillRequest, runners: Runners, signal: AbortSignal): Promise<Prepared> {
  const whole = { ...request, function: await functionOf(request, { isToRun: true }, signal) };
  const { runner, reason } = await chooseRunner(whole, runners, signal);
  return { request: whole, runner, runnerReason: reason };
}
