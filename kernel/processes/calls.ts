// Calls that are given no signal belong to some work all the same: the cell of a notebook, which a person may interrupt.
// Who runs work says which it is that runs; where nobody does, calls have their own signals and no other.

let workSignal: () => AbortSignal | undefined = () => undefined;

/** Says how to find the signal of the work that runs. Called once, by the process that runs it. */
export function belongTo(find: () => AbortSignal | undefined): void {
  workSignal = find;
}

/** That of the work that runs, where somebody has said how to find it. */
export const signalOfWork = (): AbortSignal | undefined => workSignal();

/**
 * Runs a call with its own signal and that of the work it is part of. A call that begins when its work was given up
 * already neither runs nor settles: rejecting it at once would make a loop that tries again spin without a pause.
 */
export function asPartOfWork<T>(
  own: AbortSignal | undefined,
  call: (signal: AbortSignal | undefined) => Promise<T>,
): Promise<T> {
  const work = workSignal();
  if (!work) return call(own);
  if (work.aborted) return new Promise<T>(() => {});
  return call(own ? AbortSignal.any([own, work]) : work);
}

/** The answer, or the reason of `own` or of the work around as soon as that is aborted. What was asked goes on. */
export function cancellable<T>(request: Promise<T>, own: AbortSignal | undefined): Promise<T> {
  return asPartOfWork(own, (signal) => (signal ? untilAborted(request, signal) : request));
}

function untilAborted<T>(request: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason instanceof Error ? signal.reason : new DOMException('', 'AbortError'));
    if (signal.aborted) abort();
    signal.addEventListener('abort', abort, { once: true });
    request.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
  });
}

/** Calls a listener. What it throws is its own failure, in which its caller and the other listeners have no part. */
export function guarded(call: () => void): void {
  try {
    call();
  } catch (error) {
    process.emitWarning(error instanceof Error ? error : String(error));
  }
}
