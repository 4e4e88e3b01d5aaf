import type { BackfillRequest } from '#shared/jobs/backfill.ts';
import type { ComputedFunction } from '#shared/jobs/computedFunction.ts';
import { JobError } from '#shared/jobs/jobErrors.ts';

/**
 * The function that a request computes with: the one that is given, else the one that the table keeps, else, on a server,
 * the one that the server alone knows.
 * @throws JobError FunctionMissing; FunctionNotAccepted for one that is to run and that nobody here has agreed to
 */
export async function functionOf(
  { function: given, column }: BackfillRequest,
  _how: { readonly isToRun: boolean },
  signal: AbortSignal,
): Promise<ComputedFunction> {
  signal.throwIfAborted();
  if (given) return given;
  throw new JobError('FunctionMissing', `Nothing says how "${column}" is computed.`, 'Give a function.');
}
