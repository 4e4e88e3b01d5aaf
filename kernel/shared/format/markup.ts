// What HTML forms and their text twins are made with, in notebooks and in reports.

const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };

/** Text that HTML shows as it is. */
export const escapeHtml = (text: string): string => text.replace(/[&<>"']/g, (char) => entities[char] ?? char);

/** Control characters as `\x1b`: a terminal would obey them, and a value could move the cursor or set the title. */
export const withoutControls = (text: string): string =>
  text.replace(/\p{Cc}/gu, (char) => `\\x${char.charCodeAt(0).toString(16).padStart(2, '0')}`);

/** Text in one line. */
export const oneLine = (text: string): string => withoutControls(text.replace(/\s+/g, ' '));

/** At most `length` characters, the last one `…` where some are left out. Never half of a character. */
export function cutText(text: string, length: number): string {
  if (text.length <= length) return text;
  const end = /[\uD800-\uDBFF]/.test(text[length - 2] ?? '') ? length - 2 : length - 1;
  return `${text.slice(0, end)}…`;
}

/** `1 row`, `2 rows`, `1,000 entries` */
export const counted = (count: number, one: string, many = `${one}s`): string =>
  `${count.toLocaleString('en-US')} ${count === 1 ? one : many}`;

/** Names one after another, of many the first: `a, b, c and 9,997 more`. */
export function namesText(names: readonly string[], most = 20): string {
  const more = names.length - most;
  if (more <= 0) return names.join(', ');
  return `${names.slice(0, most).join(', ')} and ${more.toLocaleString('en-US')} more`;
}

/** Bytes in words: `640 bytes`, `12.3 KB`. */
export function sizeText(bytes: number): string {
  if (bytes < 1024) return counted(bytes, 'byte');
  const units = ['KB', 'MB', 'GB', 'TB'];
  let size = bytes / 1024;
  let unit = 0;
  for (; size >= 1024 && unit < units.length - 1; unit++) size /= 1024;
  return `${size < 10 ? size.toFixed(1) : Math.round(size)} ${units[unit]}`;
}

/** Lines of equal columns, for a terminal. Each cell is one line of at most `width` characters. */
export function alignColumns(rows: readonly (readonly string[])[], width = 40): string[] {
  const cells = rows.map((row) => row.map((cell) => cutText(oneLine(cell), width)));
  const widths: number[] = [];
  for (const row of cells) row.forEach((cell, column) => (widths[column] = Math.max(widths[column] ?? 0, cell.length)));
  return cells.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  );
}

/** A table of text in HTML; everything in it is escaped. */
export function htmlTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const body = rows.map((row) => htmlRow('td', row)).join('');
  return `<table><thead>${htmlRow('th', head)}</thead><tbody>${body}</tbody></table>`;
}

/** Notebooks align the cells of tables for numbers; these are words. */
const left = 'style="text-align:left"';

/** One row of cells of text. */
export const htmlRow = (tag: 'td' | 'th', cells: readonly string[]): string =>
  `<tr>${cells.map((cell) => `<${tag} ${left}>${escapeHtml(cell)}</${tag}>`).join('')}</tr>`;
