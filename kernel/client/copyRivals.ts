import { CatalogError, isCatalogError } from '#shared/errors.ts';
import { displayTable } from './copyMark.ts';
import type { TablePlace, TableState } from './copyPlace.ts';

// Two copies to one place. Nothing tells one that is under way from one that was stopped: each is a table that says of what
// it is a copy, and that some rows are missing. So neither is taken away from whoever began it without being asked for.

/** A half copy of another source is where this one would grow. */
export function otherCopy(place: TablePlace, target: TablePlace, { mark, rows }: TableState): CatalogError {
  const [there, shown] = [displayTable(place.path), displayTable(target.path)];
  const wanted = mark === undefined ? '' : ` of ${mark.rows}`;
  return new CatalogError(
    'TableAlreadyExists',
    `Another copy to "${shown}", of another table, is under way or was stopped: "${there}" has ${rows}${wanted} of its rows.`,
    `Run that copy again to go on with it; or, once it is not under way, drop "${there}" or copy with overwrite ` +
      '(--overwrite on the command line) to begin this one.',
    { identifier: shown },
  );
}

/**
 * Runs a call that begins or ends a copy; that its name is taken or gone by then is the doing of another one.
 * @throws CatalogError ConcurrentModification (14)
 */
export async function alone<T>(place: TablePlace, target: TablePlace, call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (cause) {
    if (!isCatalogError(cause, 'TableAlreadyExists') && !isCatalogError(cause, 'TableNotFound')) throw cause;
    const [there, shown] = [displayTable(place.path), displayTable(target.path)];
    throw new CatalogError(
      'ConcurrentModification',
      `Another copy to "${shown}" was begun at the same time, and is under way, was stopped or has finished.`,
      `Let it finish and copy again, which goes on where it stopped or finds "${shown}" whole; or drop "${there}" and begin anew.`,
      { identifier: shown, cause },
    );
  }
}
