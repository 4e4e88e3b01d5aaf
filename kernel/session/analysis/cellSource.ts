import { blanked, partsOf } from '#session/magics/cellParts.ts';
import { sqlResultName } from '#session/magics/sqlMagic.ts';
import { codeInHoles } from '#session/sql/sqlHoles.ts';

/**
 * Returns the TypeScript of a cell. All other text (`%cd ..`, `%%sql`, `?name`) is blanked, so that positions stay the
 * same. In SQL, only the values in `${…}` stay. The variable of `%%sql name` is declared after the end of the cell.
 */
export function codeOf(text: string): string {
  const parts = partsOf(text);
  if (!parts) return text;
  let code = '';
  let result = '';
  for (const part of parts) {
    if (part.kind === 'magic' && part.name === 'sql' && part.body) {
      const { start, end } = part.body;
      const name = sqlResultName(text.slice(part.rest.start, part.rest.end));
      if (name !== undefined) result = `\nlet ${name}!: arrow.Table;`;
      code += blanked(text.slice(code.length, start)) + codeInHoles(text.slice(start, end));
      continue;
    }
    const span = part.kind === 'code' ? part : part.kind === 'magic' ? part.code : undefined;
    if (span) code += blanked(text.slice(code.length, span.start)) + text.slice(span.start, span.end);
  }
  return code + blanked(text.slice(code.length)) + result;
}

/** Whether a cell is SQL. Its code is only the values of a query, so it is completed but not checked. */
export function isSqlCell(text: string): boolean {
  const [part] = partsOf(text) ?? [];
  return part?.kind === 'magic' && part.name === 'sql' && part.body !== undefined;
}
