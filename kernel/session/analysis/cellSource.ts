import { partsOf } from '#session/magics/cellParts.ts';

/**
 * Returns the TypeScript of a cell. All other lines (`%cd ..`, `%%sql`, `?name`) are blanked, so that positions stay
 * the same.
 */
export function codeOf(text: string): string {
  const parts = partsOf(text);
  if (!parts) return text;
  let code = '';
  for (const part of parts) {
    const span = part.kind === 'code' ? part : part.kind === 'magic' ? part.code : undefined;
    if (span) code += blank(text.slice(code.length, span.start)) + text.slice(span.start, span.end);
  }
  return code + blank(text.slice(code.length));
}

const blank = (text: string): string => text.replace(/[^\r\n]/g, ' ');
