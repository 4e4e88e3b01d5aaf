import { completeSql, type SqlCompletion } from '#catalog/names/sqlCompletion.ts';
import { partsOf } from '#session/magics/cellParts.ts';
import { findHoles, withoutHoles } from './sqlHoles.ts';

/** Returns what completes a `%%sql` cell at an offset; undefined outside of SQL, and in `${…}`, which is TypeScript. */
export function sqlCompletionAt(cell: string, offset: number): SqlCompletion | undefined {
  const [part] = partsOf(cell) ?? [];
  if (part?.kind !== 'magic' || part.name !== 'sql' || !part.body || offset < part.body.start) return undefined;
  const from = part.body.start;
  const body = cell.slice(from, part.body.end);
  const at = offset - from;
  const holes = findHoles(body);
  // The position after a value that is not closed is in that value, too.
  if (holes.some(({ start, end }) => start + 1 < at && (at < end || (at === end && body[end - 1] !== '}'))))
    return undefined;
  const { naming, words, start, end } = completeSql(withoutHoles(body, holes), at);
  return {
    naming: naming && { ...naming, start: naming.start + from, end: naming.end + from },
    words,
    start: start + from,
    end: end + from,
  };
}
