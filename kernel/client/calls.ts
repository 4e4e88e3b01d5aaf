import { asPartOfWork } from './callSignal.ts';

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
