import { type Operation, readingOperations } from '#catalog/contract.ts';
import { wait } from '#processes/wait.ts';

/** A failure that may be temporary; `retryAfter` is the delay that the server requested, in milliseconds from now. */
type Transient = { retryAfter: number | undefined };

/**
 * First and longest delay before a retry, milliseconds. The delay doubles with each try; the actual wait is a random
 * part of the delay.
 */
const firstWait = 200;
const longestWait = 5000;
/**
 * If a server requests a longer delay, the call fails at once, so that the user sees the error and the call does not
 * hang.
 */
const longestRetryAfter = 30_000;

/** Codes of connections that failed or broke. Certificate errors are not temporary. */
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

// The delay is not a property of the error, because callers have no use for it.
const passing = new WeakMap<object, Transient>();

/** Records that the same request may succeed a little later. */
export function markTransient<E extends object>(error: E, retryAfter?: number): E {
  passing.set(error, { retryAfter });
  return error;
}

/** Returns the delay in milliseconds that was recorded with a temporary failure, if any. */
export const retryAfterOf = (error: object): number | undefined => passing.get(error)?.retryAfter;

/**
 * Returns whether a request may be sent again: only if it changes nothing. RFC 9110 (9.2.2) allows repeating other
 * requests only if the first request was certainly not applied. The statuses 429 and 503 don't prove this, because a
 * gateway also sends them after it lost the response of the server behind it.
 */
export const isRetryable = (operation: Operation): boolean => readingOperations.has(operation);

/**
 * Returns the delay before the next try in milliseconds; `undefined` if there is no further try. The delay is the one that
 * the server requested. Otherwise it is random, from 0 to a limit that doubles with each try, so that many clients do not
 * return at the same moment.
 * @param tries how many tries were made
 * @param random from 0 to 1
 */
export function retryDelay(
  tries: number,
  retries: number,
  failure: Transient | undefined,
  random: number,
): number | undefined {
  if (tries > retries || !failure) return undefined;
  const { retryAfter } = failure;
  if (retryAfter !== undefined) return retryAfter <= longestRetryAfter ? retryAfter : undefined;
  return Math.round(random * Math.min(longestWait, firstWait * 2 ** (tries - 1)));
}

/**
 * Parses `Retry-After` (RFC 9110, 10.2.3): seconds, or an HTTP date.
 * @returns milliseconds from `now`, `undefined` for other values
 */
export function parseRetryAfter(value: string | undefined, now: number): number | undefined {
  const text = value?.trim() ?? '';
  if (/^\d{1,9}$/.test(text)) return Number(text) * 1000;
  // Every form of an HTTP date starts with the weekday; `Date.parse` alone accepts far more than dates.
  const time = /^(Mon|Tue|Wed|Thu|Fri|Sat|Sun)/.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(time) ? undefined : Math.max(0, time - now);
}

/** Repeats a call until it succeeds or `retryDelay` returns no delay; `signal` ends a delay. */
export async function withRetries<T>(
  { retries, signal }: { retries: number; signal: AbortSignal | undefined },
  call: () => Promise<T>,
): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await call();
    } catch (error) {
      const failure = typeof error === 'object' && error !== null ? passing.get(error) : undefined;
      const delay = signal?.aborted ? undefined : retryDelay(tries, retries, failure, Math.random());
      if (delay === undefined) throw error;
      await wait(delay, signal);
    }
  }
}
