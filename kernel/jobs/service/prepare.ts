import { chooseRunner, type ChoosingRequest, type Runners } from '#jobs/plan/chooseRunner.ts';
import type { RunnerName } from '#shared/jobs/backfill.ts';

/** A request with all decided that the process of the job could only decide too late to tell it to whoever asked. */
export type Prepared = {
  readonly request: ChoosingRequest;
  readonly runner: RunnerName;
  readonly runnerReason: string;
};

/** Picks what runs a request. @throws JobError RunnerUnavailable */
export async function prepare(request: ChoosingRequest, runners: Runners, signal: AbortSignal): Promise<Prepared> {
  const { runner, reason } = await chooseRunner(request, runners, signal);
  return { request, runner, runnerReason: reason };
}
