// Helpers for HTML and its plain text alternatives, in notebooks and reports.

const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };

export const escapeHtml = (text: string): string => text.replace(/[&<>"']/g, (char) => entities[char] ?? char);

/**
 * Replaces control characters by `\x1b` and the like, because in a terminal such characters could move the cursor or
 * set the title.
 */
export const escapeControlCharacters = (text: string): string =>
  text.replace(/\p{Cc}/gu, (char) => `\\x${char.charCodeAt(0).toString(16).padStart(2, '0')}`);

// Control characters except line breaks and tabs, and characters without a shape, which could hide code from a reader.
const invisible = /(?![\n\t])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

/** Replaces invisible and bidirectional characters by `\u{202e}` and the like; line breaks and tabs stay. */
export const escapeInvisibleCharacters = (text: string): string =>
  text.replace(invisible, (char) => `\\u{${(char.codePointAt(0) ?? 0).toString(16)}}`);

/** Puts text on one line. */
export const oneLine = (text: string): string => escapeControlCharacters(text.replace(/\s+/g, ' '));

/** Returns at most `length` characters, with `…` as the last one if some are omitted. Never splits a surrogate pair. */
export function cutText(text: string, length: number): string {
  if (text.length <= length) return text;
  const end = /[\uD800-\uDBFF]/.test(text[length - 2] ?? '') ? length - 2 : length - 1;
  return `${text.slice(0, end)}…`;
}

/** `1 row`, `2 rows`, `1,000 entries` */
export const pluralize = (count: number, one: string, many = `${one}s`): string =>
  `${count.toLocaleString('en-US')} ${count === 1 ? one : many}`;

/** Joins names. A long list is shortened to its first names: `a, b, c and 9,997 more`. */
export function namesText(names: readonly string[], most = 20): string {
  const more = names.length - most;
  if (more <= 0) return names.join(', ');
  return `${names.slice(0, most).join(', ')} and ${more.toLocaleString('en-US')} more`;
}

/**
 * Formats rows as aligned columns for a terminal. Each cell is one line of at most `width` characters.
 * @param widths the least widths of the columns; they become those of the result
 */
export function alignColumns(rows: readonly (readonly string[])[], width = 40, widths: number[] = []): string[] {
  const cells = rows.map((row) => row.map((cell) => cutText(oneLine(cell), width)));
  for (const row of cells) row.forEach((cell, column) => (widths[column] = Math.max(widths[column] ?? 0, cell.length)));
  return cells.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  );
}

/** Renders a table of text as HTML; everything is escaped. */
export function htmlTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const body = rows.map((row) => htmlRow('td', row)).join('');
  return `<table><thead>${htmlRow('th', head)}</thead><tbody>${body}</tbody></table>`;
}

/** Notebooks align table cells to the right. That suits numbers but not text. */
const left = 'style="text-align:left"';

export const htmlRow = (tag: 'td' | 'th', cells: readonly string[]): string =>
  `<tr>${cells.map((cell) => `<${tag} ${left}>${escapeHtml(cell)}</${tag}>`).join('')}</tr>`;
