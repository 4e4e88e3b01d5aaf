import { checkAddress, localRoot } from '#catalog/root.ts';
import { CatalogError } from '#shared/errors.ts';
import { nameProblem } from '#shared/names.ts';

/** A catalog that a server offers under a name. */
export type Database = {
  readonly name: string;
  readonly root: string;
  /** Whether it is the only database of a server that was started without names. */
  readonly isUnnamed?: true;
};

/** The name of the only database of a server that was started without names. */
const defaultDatabase = 'default';

/**
 * Parses the databases of a server. Each is `NAME=ROOT`, or `NAME` for the folder of that name below `root`. If none is
 * given, `root` itself is the only database.
 * @throws CatalogError InvalidInput (13) for a duplicate or invalid name, or a database without a root
 */
export function databasesOf(root: string | undefined, given: readonly string[]): Database[] {
  if (given.length === 0) {
    if (root === undefined) throw new CatalogError('InvalidInput', 'There is nothing to serve.', 'Pass --root DIR.');
    return [{ name: defaultDatabase, root: absolute(root), isUnnamed: true }];
  }
  const databases: Database[] = [];
  for (const text of given) {
    const split = text.indexOf('=');
    const name = split < 0 ? text : text.slice(0, split);
    const problem = nameProblem('namespace', name);
    if (problem) throw new CatalogError('InvalidInput', `"${name}" can't be the name of a database.`, problem.hint);
    // Names are compared without case, because host names are case-insensitive, and on some systems folder names too.
    const same = databases.find((known) => known.name.toLowerCase() === name.toLowerCase());
    if (same) {
      throw new CatalogError(
        'InvalidInput',
        `The database "${name}" is given twice${same.name === name ? '' : `, also as "${same.name}"`}.`,
        'Use each name once; uppercase and lowercase letters are the same.',
      );
    }
    const place = split < 0 ? joinRoot(root, name) : text.slice(split + 1);
    if (!place) {
      throw new CatalogError(
        'InvalidInput',
        `The database "${name}" has no root.`,
        `Pass --database ${name}=DIR, or --root DIR for the folder that contains it.`,
      );
    }
    databases.push({ name, root: absolute(place) });
  }
  return databases;
}

export const joinRoot = (root: string | undefined, name: string): string | undefined =>
  root === undefined ? undefined : `${root.replace(/[/\\]+$/, '')}/${name}`;

const absolute = (root: string): string => (checkAddress(root) ? root : localRoot(root));
