import { createHash } from 'node:crypto';
import type { JobSpec } from '#jobs/jobSpec.ts';

/** Column, function and scope in the name of a folder that every store takes. */
export function checkpointName({
  column,
  function: fn,
  where,
}: Pick<JobSpec, 'column' | 'function' | 'where'>): string {
  const scope = where === undefined ? '' : `-${createHash('sha256').update(where).digest('hex').slice(0, 8)}`;
  return `${encodedColumn(column)}-${fn.hash.slice(0, 16)}${scope}`;
}

/** Letters, digits, `_`, `.` and `-` as they are, every other byte of its UTF-8 as `%XX`. */
export const encodedColumn = (column: string): string =>
  Array.from(Buffer.from(column), (byte) => {
    const character = String.fromCodePoint(byte);
    return /[\w.-]/.test(character) ? character : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`;
  }).join('');
