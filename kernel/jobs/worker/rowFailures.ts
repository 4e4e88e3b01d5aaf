import { isCatalogError, messageOf } from '#shared/errors.ts';
import { isJobErrorKind, type JobErrorKind } from '#shared/jobs/jobErrors.ts';
import { isRecord } from '#shared/records.ts';

/** Stands for a row that was not run because an earlier row ended the job. */
export const notRun = '';

/** Maximum characters of an error text. */
const maxText = 2000;

export function failureText(error: unknown): string {
  const text = isCatalogError(error) || !(error instanceof Error) ? messageOf(error) : nameAndMessage(error);
  const said = text.trim() === '' ? 'The function threw an error without a message.' : text;
  return said.length > maxText ? `${said.slice(0, maxText - 1)}…` : said;
}

const nameAndMessage = ({ name, message }: Error): string =>
  name === 'Error' || message.startsWith(name) ? message : `${name}: ${message}`;

/** Error messages of a batch; allocated with the first one. */
export class RowFailures {
  readonly #rows: number;
  #texts: (string | undefined)[] | undefined;

  constructor(rows: number) {
    this.#rows = rows;
  }

  set(row: number, text: string): void {
    this.#texts ??= Array.from({ length: this.#rows }, () => undefined);
    this.#texts[row] = text;
  }

  /** The text of each failed row; undefined if no row failed. */
  get texts(): readonly (string | undefined)[] | undefined {
    return this.#texts;
  }
}

/** Any other exit code is a crash, after which the worker may be started again. */
export const exitCodes = {
  /** Invalid options or input: a bug in the driver, or a missing column. */
  unusable: 2,
  /** The function does not load. */
  notLoaded: 3,
  /** The reader of the results has closed the pipe. */
  unread: 4,
} as const;

const mark = '@@';

/** Returns the last line of a worker that can't continue, in the format of driver events. */
export const failureLine = (code: JobErrorKind, message: string): string =>
  `${mark}${JSON.stringify({ kind: 'worker_failed', code, message })}\n`;

/** Finds the failure line of a worker in its stderr. */
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
