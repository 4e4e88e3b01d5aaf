import { askLine } from './terminal.ts';

type PageSize = { readonly rows: number; readonly columns: number };

/** Splits lines into pages that fit a terminal, with each line broken as the terminal breaks it. */
export function splitIntoPages(text: string, { rows, columns }: PageSize): readonly string[] {
  const lines = text.split('\n').flatMap((line) => breakLine(line, Math.max(columns, 10)));
  // One row is reserved for the prompt.
  const length = Math.max(rows - 1, 2);
  const count = Math.ceil(lines.length / length);
  return Array.from({ length: count }, (_, page) => lines.slice(page * length, (page + 1) * length).join('\n'));
}

function breakLine(line: string, columns: number): readonly string[] {
  const parts: string[] = [];
  let part = '';
  let width = 0;
  for (const char of line) {
    // A tab moves to the next tab stop; other characters outside of ASCII may be wide.
    const taken = char === '\t' ? 8 - (width % 8) : char > '~' ? 2 : 1;
    if (width + taken > columns) {
      parts.push(part);
      part = '';
      width = 0;
    }
    part += char;
    width += taken;
  }
  return [...parts, part];
}

/**
 * Shows a whole text in a terminal, page by page if it is longer than the terminal.
 * @returns whether the user saw all of it @throws the signal's reason if it aborts
 */
export async function pageTerminal(text: string, signal: AbortSignal): Promise<boolean> {
  const { rows, columns } = process.stderr;
  // A size of 0 is replaced, because some terminals report it.
  const pages = splitIntoPages(text, { rows: rows || 24, columns: columns || 80 });
  for (const [index, page] of pages.entries()) {
    process.stderr.write(`${page}\n`);
    if (index === pages.length - 1) return true;
    const prompt = `-- page ${index + 1} of ${pages.length}: Enter for the next page, a for all, q to stop: `;
    // Pages are shown one after another. oxlint-disable-next-line no-await-in-loop
    const answer = (await askLine(prompt, signal))?.trim().toLowerCase() ?? 'q';
    if (answer === 'q') return false;
    if (answer !== 'a') continue;
    process.stderr.write(`${pages.slice(index + 1).join('\n')}\n`);
    return true;
  }
  return true;
}
