import { setTimeout as sleep } from 'node:timers/promises';
import { readingOperations, type Operation } from '#catalog/contract.ts';

/** Of a failure that may pass by itself: what the server said of when, milliseconds from now. */
type Passing = { retryAfter: number | undefined };

/** Waits before the tries that follow, milliseconds: doubled each time up to the last, and a random part of that. */
const firstWait = 200;
const longestWait = 5000;
/** A server that wants more patience than this is believed, and the person told, instead of a call that hangs. */
const longestRetryAfter = 30_000;

/** Connections that did not come about or broke. A certificate that is refused is refused the next time as well. */
const brokenConnections: ReadonlySet<string> = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ECONNABORTED',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'EAI_AGAIN',
  'UND_ERR_SOCKET',
  'UND_ERR_CONNECT_TIMEOUT',
]);

export const isBrokenConnection = (code: string): boolean => brokenConnections.has(code);

// Beside the errors and not in them: whoever catches one has no use for it.
const passing = new WeakMap<object, Passing>();

/** Notes that the same request may succeed a little later. */
export function noteAsPassing<E extends object>(error: E, retryAfter?: number): E {
  passing.set(error, { retryAfter });
  return error;
}

/**
 * Whether a request may be sent again. Only one that changes nothing: after a 429 or 503 RFC 9110 (9.2.2) lets a client
 * repeat another one only if it knows that the first was not applied, and neither status says so: a gateway gives them
 * too when the answer of the server behind it was lost.
 */
export const mayRepeat = (operation: Operation): boolean => readingOperations.has(operation);

/**
 * How long to wait before the next try, milliseconds; `undefined` when there is none. `tries` is how many there were,
 * `random` from 0 to 1: waits of the full range keep many clients from coming back at the same moment.
 */
export function waitBefore(
  tries: number,
  retries: number,
  failure: Passing | undefined,
  random: number,
): number | undefined {
  if (tries > retries || !failure) return undefined;
  const { retryAfter } = failure;
  if (retryAfter !== undefined) return retryAfter <= longestRetryAfter ? retryAfter : undefined;
  return Math.round(random * Math.min(longestWait, firstWait * 2 ** (tries - 1)));
}

/**
 * Reads `Retry-After` of RFC 9110 (10.2.3): seconds, or the time as an HTTP date.
 * @returns milliseconds from `now`, `undefined` for what is neither
 */
export function parseRetryAfter(value: string | undefined, now: number): number | undefined {
  const text = value?.trim() ?? '';
  if (/^\d{1,9}$/.test(text)) return Number(text) * 1000;
  // Every form of an HTTP date begins with the day of the week; `Date.parse` alone takes far more than dates.
  const time = /^(Mon|Tue|Wed|Thu|Fri|Sat|Sun)/.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(time) ? undefined : Math.max(0, time - now);
}

/** Calls until it succeeds or `waitBefore` says that there is no point; a wait ends with `signal`. */
export async function withRetries<T>(
  { retries, signal }: { retries: number; signal: AbortSignal | undefined },
  call: () => Promise<T>,
): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await call();
    } catch (error) {
      const failure = typeof error === 'object' && error !== null ? passing.get(error) : undefined;
      const wait = signal?.aborted ? undefined : waitBefore(tries, retries, failure, Math.random());
      if (wait === undefined) throw error;
      await pause(wait, signal);
    }
  }
}

async function pause(milliseconds: number, signal: AbortSignal | undefined): Promise<void> {
  try {
    await sleep(milliseconds, undefined, signal ? { signal } : {});
  } catch (error) {
    // The caller's own reason, as everywhere.
    signal?.throwIfAborted();
    throw error;
  }
}
