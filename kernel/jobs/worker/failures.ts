import { isCatalogError, messageOf } from '#shared/errors.ts';

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
