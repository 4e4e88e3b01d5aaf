import { isCatalogError, messageOf } from '#shared/errors.ts';
import { isJobErrorKind, type JobErrorKind } from '#shared/jobs/jobErrors.ts';
import { isRecord } from '#shared/records.ts';

/** What stands for a row that was not run, since one before it ended the job. */
export const notRun = '';

/** Characters of an error's text that are kept. */
const maxText = 2000;

/** What is said of a row whose value could not be computed, in one text of limited length. */
export function failureText(error: unknown): string {
  const text = isCatalogError(error) || !(error instanceof Error) ? messageOf(error) : nameAndMessage(error);
  const said = text.trim() === '' ? 'The function threw an error without a message.' : text;
  return said.length > maxText ? `${said.slice(0, maxText - 1)}…` : said;
}

const nameAndMessage = ({ name, message }: Error): string =>
  name === 'Error' || message.startsWith(name) ? message : `${name}: ${message}`;

/** Errors of the rows of a batch, of which there are mostly none. */
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

  /** The text of each row that has one; undefined where no row has. */
  get texts(): readonly (string | undefined)[] | undefined {
    return this.#texts;
  }
}

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
