import { markTransient } from '#catalog/transport/retry.ts';
import { CatalogError } from '#shared/errors.ts';

/**
 * Time in milliseconds after which a client may send a stopped query again. The time is so long that clients do not
 * repeat the query by themselves, because it would be stopped again.
 */
const stoppedRetry = 60_000;

const stopped = (what: string, hint: string, cause: unknown): CatalogError =>
  markTransient(new CatalogError('ServiceUnavailable', what, hint, { cause }), stoppedRetry);

export const tooSlow = (time: number, cause: unknown): CatalogError =>
  stopped(
    `The request was stopped because it took longer than ${time / 1000} seconds.`,
    'Ask for fewer rows, columns or words, or ask the administrator for more time (--query-timeout).',
    cause,
  );

export const endedEarly = (cause: unknown): CatalogError =>
  stopped(
    'The request was stopped because it needed too much memory, or the engine failed.',
    'Ask for fewer rows, columns or words, or ask the administrator for more memory (--query-memory).',
    cause,
  );

export const busy = (): CatalogError =>
  new CatalogError('ServiceUnavailable', 'The server has too many queries at the moment.', 'Try again in a second.');

export const closing = (): CatalogError =>
  new CatalogError('ServiceUnavailable', 'The server is shutting down.', 'Try again.');

export const notStarted = (cause: unknown): CatalogError =>
  new CatalogError(
    'ServiceUnavailable',
    "The server can't start a process for queries.",
    'Tell the administrator of the server, whose log says why.',
    { cause },
  );
