import { setTimeout as sleep } from 'node:timers/promises';

/** Waits. @throws the reason of `signal` if it is aborted */
export async function wait(milliseconds: number, signal: AbortSignal | undefined): Promise<void> {
  signal?.throwIfAborted();
  try {
    await sleep(milliseconds, undefined, signal ? { signal } : {});
  } catch (error) {
    signal?.throwIfAborted();
    throw error;
  }
}

/** Returns the result of `work`, or rejects as soon as `signal` is aborted. The work itself continues. */
export function untilAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason instanceof Error ? signal.reason : new DOMException('', 'AbortError'));
    if (signal.aborted) abort();
    signal.addEventListener('abort', abort, { once: true });
    const settle = <R>(pass: (result: R) => void) => {
      return (result: R): void => {
        signal.removeEventListener('abort', abort);
        pass(result);
      };
    };
    work.then(settle(resolve), settle(reject));
  });
}
