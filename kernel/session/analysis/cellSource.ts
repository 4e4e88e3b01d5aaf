// A cell as the checker reads it: everything that is not TypeScript is blank, so that positions stay what they were.
import { partsOf, type CellPart, type Span } from '#session/magics/cellParts.ts';

/** The text of a cell with its magics and questions (`%cd ..`, `%%sql`, `?name`) blank; of the same length. */
export function codeOf(text: string): string {
  const parts = partsOf(text);
  if (!parts) return text;
  let at = 0;
  let code = '';
  for (const { start, end } of parts.flatMap(codeIn)) {
    code += blank(text.slice(at, start)) + text.slice(start, end);
    at = end;
  }
  return code + blank(text.slice(at));
}

function codeIn(part: CellPart): Span[] {
  if (part.kind === 'code') return [part];
  return part.kind === 'magic' && part.code ? [part.code] : [];
}

const blank = (text: string): string => text.replace(/[^\r\n]/g, ' ');
