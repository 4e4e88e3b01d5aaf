/** A part of a string as it is drawn. A mark stands for characters that can't be seen. */
export type TextPart = {
  readonly text: string;
  readonly isMark: boolean;
  /** Whether a line of the string ends here. */
  readonly isBreak?: boolean;
};

/** Maximum number of parts of a string, so that a string of control characters is not a thousand elements. */
const maxParts = 60;

// Control characters, marks of direction and characters without width. Not those that join letters or emoji (U+200C,
// U+200D): scripts and emoji need them.
const hidden =
  // oxlint-disable-next-line no-control-regex -- these characters are what is made visible
  /[\u0000-\u001F\u007F-\u009F\u00AD\u061C\u180E\u200B\u200E\u200F\u2028-\u202E\u2060-\u206F\uFEFF\uFFF9-\uFFFB]/;
const outerSpace = /^\s|\s$/;

/**
 * Returns a string in parts, with marks for spaces at its ends, line breaks, control characters and marks of direction;
 * `undefined` if nothing needs a mark.
 */
export function markedParts(text: string): TextPart[] | undefined {
  if (text === '') return [{ text: '""', isMark: true }];
  if (!hidden.test(text) && !outerSpace.test(text)) return undefined;
  const start = text.length - text.trimStart().length;
  const end = Math.max(start, text.trimEnd().length);
  const parts: TextPart[] = [];
  let plain = '';
  const flush = (): void => {
    if (plain !== '') parts.push({ text: plain, isMark: false });
    plain = '';
  };
  for (let at = 0; at < text.length; at++) {
    const char = text[at]!;
    const mark = hidden.test(char) || ((at < start || at >= end) && /\s/.test(char)) ? markOf(char) : undefined;
    if (mark === undefined || parts.length >= maxParts) {
      plain += mark ?? char;
      continue;
    }
    flush();
    const last = parts.at(-1);
    const isBreak = char === '\n';
    if (last?.isMark === true && last.isBreak !== true && !isBreak)
      parts[parts.length - 1] = { text: last.text + mark, isMark: true };
    else parts.push({ text: mark, isMark: true, ...(isBreak && { isBreak }) });
  }
  flush();
  return parts;
}

/** Returns a string with marks for what can't be seen. */
export const markedText = (text: string): string =>
  markedParts(text)
    ?.map((part) => part.text)
    .join('') ?? text;

const marks: Readonly<Record<string, string>> = { ' ': '·', '\t': '→', '\n': '↵', '\r': '␍' };

const markOf = (char: string): string =>
  marks[char] ?? `⟨U+${char.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}⟩`;
