import { isJobErrorKind, type JobErrorKind } from '#shared/jobs/jobErrors.ts';
import { isRecord } from '#shared/records.ts';

/** How a worker ends. Anything else is a crash, of the function or of the process, and it may be started again. */
export const exitCodes = {
  /** What it is told or its input is unusable: our mistake, or a column is missing. */
  unusable: 2,
  /** The function does not load. */
  notLoaded: 3,
  /** Nobody reads what it writes. */
  unread: 4,
} as const;

const mark = '@@';

/** The last line of a worker that can't go on, in the form of a driver's events. */
export const failureLine = (code: JobErrorKind, message: string): string =>
  `${mark}${JSON.stringify({ kind: 'worker_failed', code, message })}\n`;

/** Why a worker could not go on, by what it wrote to stderr; undefined where it did not say. */
export function failureIn(stderr: string): { kind: JobErrorKind; message: string } | undefined {
  const line = stderr
    .split('\n')
    .findLast((each) => each.startsWith(mark))
    ?.slice(mark.length);
  if (line === undefined) return undefined;
  try {
    const json: unknown = JSON.parse(line);
    if (!isRecord(json) || json['kind'] !== 'worker_failed' || !isJobErrorKind(json['code'])) return undefined;
    return { kind: json['code'], message: String(json['message']) };
  } catch {
    return undefined;
  }
}
