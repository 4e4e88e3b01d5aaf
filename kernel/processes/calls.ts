import { untilAborted } from './wait.ts';

// Calls without a signal can still belong to running work, such as a notebook cell, which the user may interrupt. The
// process that runs the work registers a function that finds the signal of the work. In other processes, calls have
// only their own signals.

let workSignal: () => AbortSignal | undefined = () => undefined;

/** Sets the function that finds the signal of the running work. Called once, by the process that runs the work. */
export function setSignalProvider(find: () => AbortSignal | undefined): void {
  workSignal = find;
}

/** The signal of the running work, if a provider is set. */
export const currentCellSignal = (): AbortSignal | undefined => workSignal();

/**
 * Runs a call with its own signal, and with the signal of the work that the call belongs to. If the work is already
 * cancelled, the call does not run and the returned promise never settles. An immediate rejection would let a loop
 * that retries run without a pause.
 */
export function withCellSignal<T>(
  own: AbortSignal | undefined,
  call: (signal: AbortSignal | undefined) => Promise<T>,
): Promise<T> {
  const work = workSignal();
  if (!work) return call(own);
  if (work.aborted) return new Promise<T>(() => {});
  return call(own ? AbortSignal.any([own, work]) : work);
}

/**
 * Returns the result, or rejects as soon as `own` or the signal of the work is aborted. The request itself continues.
 */
export function cancellable<T>(request: Promise<T>, own: AbortSignal | undefined): Promise<T> {
  return withCellSignal(own, (signal) => (signal ? untilAborted(request, signal) : request));
}

/** Calls a listener. Errors of the listener become warnings, so that the caller and the other listeners continue. */
export function callListener(call: () => void): void {
  try {
    call();
  } catch (error) {
    process.emitWarning(error instanceof Error ? error : String(error));
  }
}
