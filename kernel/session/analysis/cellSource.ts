// A cell as the checker reads it: everything that is not TypeScript is blank, so that positions stay what they were.

/** Magics whose rest of the line is code. */
const timed = /^(\s*%(?:time|timeit)\b)(.*)$/s;
const lineMagic = /^\s*%[a-z]\w*/i;
const cellMagic = /^\s*%%[a-z]\w*/i;
const asksFirst = /^\s*\?{1,2}\s*[\w$.]+\s*;?\s*$/;
const asksLast = /^\s*[\w$.]+\?{1,2}\s*$/;

/** The text of a cell with the lines of magics and questions (`%cd ..`, `%%sql`, `?name`) blank; of the same length. */
export function codeOf(text: string): string {
  if (!/^\s*[%?]|\?\s*$/m.test(text)) return text;
  if (cellMagic.test(text)) return blank(text);
  const lines = text.split('\n');
  const written = lines.filter((line) => line.trim() !== '');
  return lines.map((line) => codeOfLine(line, written.length === 1)).join('\n');
}

function codeOfLine(line: string, isAlone: boolean): string {
  const [, magic, code] = timed.exec(line) ?? [];
  if (magic !== undefined && code !== undefined) return blank(magic) + code;
  // `name?` on a line among others is the head of a conditional expression.
  return lineMagic.test(line) || asksFirst.test(line) || (isAlone && asksLast.test(line)) ? blank(line) : line;
}

const blank = (text: string): string => text.replace(/[^\r\n]/g, ' ');
