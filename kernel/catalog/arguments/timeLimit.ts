import { CatalogError } from '#shared/errors.ts';
import type { CallOptions } from './options.ts';

export type TimedCallOptions = CallOptions & {
  /** Cancels the call after this many milliseconds. Default: no limit. */
  timeoutMs?: number | undefined;
};

/** A limit of time for the steps of one call. */
export type TimeLimit = {
  /** Aborts when the caller aborts the call or `timeoutMs` has passed. */
  readonly signal: AbortSignal | undefined;
  /** Runs a step of the call. @throws CatalogError ServiceUnavailable (17) if `timeoutMs` has passed */
  run<T>(step: (signal: AbortSignal | undefined) => Promise<T>): Promise<T>;
};

/** The longest time that Node.js can wait, about 25 days. */
const maxTimeout = 2 ** 31 - 1;

/**
 * Starts the time of a call.
 * @throws CatalogError InvalidInput (13) unless `timeoutMs` is a positive number
 */
export function startTimeLimit(call: string, { signal: own, timeoutMs }: TimedCallOptions): TimeLimit {
  if (timeoutMs === undefined) return { signal: own, run: (step) => step(own) };
  if (typeof timeoutMs !== 'number' || !(timeoutMs > 0)) {
    const what = `${call}: ${String(timeoutMs)} is not a valid timeoutMs.`;
    throw new CatalogError('InvalidInput', what, 'Pass a number of milliseconds, or leave it out.');
  }
  const timer = AbortSignal.timeout(Math.ceil(Math.min(timeoutMs, maxTimeout)));
  const signal = own ? AbortSignal.any([own, timer]) : timer;
  return {
    signal,
    async run(step) {
      try {
        return await step(signal);
      } catch (cause) {
        if (!timer.aborted || own?.aborted === true) throw cause;
        const what = `${call} did not finish within ${timeoutMs} ms.`;
        throw new CatalogError('ServiceUnavailable', what, 'Raise timeoutMs, or request less data.', { cause });
      }
    },
  };
}
