import { checkAddress, localRoot } from '#catalog/root.ts';
import { CatalogError } from '#shared/errors.ts';
import { nameProblem } from '#shared/names.ts';

/** A catalog that a server offers under a name. */
export type Database = { readonly name: string; readonly root: string };

/** The name of the one database of a server to which none was given. */
const defaultDatabase = 'default';

/**
 * The databases of a server: those given as `NAME=ROOT`, or as `NAME` for the folder of that name below `root`; without
 * any, `root` itself.
 * @throws CatalogError InvalidInput (13) for a name twice, against the rule of names, or without a place
 */
export function databasesOf(root: string | undefined, given: readonly string[]): Database[] {
  if (given.length === 0) {
    if (root === undefined) throw new CatalogError('InvalidInput', 'There is nothing to serve.', 'Give --root DIR.');
    return [{ name: defaultDatabase, root: absolute(root) }];
  }
  const databases: Database[] = [];
  for (const text of given) {
    const split = text.indexOf('=');
    const name = split < 0 ? text : text.slice(0, split);
    const problem = nameProblem('namespace', name);
    if (problem) throw new CatalogError('InvalidInput', `"${name}" can't be the name of a database.`, problem.hint);
    // Names of hosts are the same in small and capital letters, and so are folders on some machines.
    const same = databases.find((known) => known.name.toLowerCase() === name.toLowerCase());
    if (same) {
      throw new CatalogError(
        'InvalidInput',
        `The database "${name}" is given twice${same.name === name ? '' : `, also as "${same.name}"`}.`,
        'Give each name once, in small or in capital letters.',
      );
    }
    const place = split < 0 ? below(root, name) : text.slice(split + 1);
    if (!place) {
      throw new CatalogError(
        'InvalidInput',
        `The database "${name}" has no root.`,
        `Write --database ${name}=DIR, or give --root DIR for the folder that it is in.`,
      );
    }
    databases.push({ name, root: absolute(place) });
  }
  return databases;
}

/** The place of a name below a root. */
export const below = (root: string | undefined, name: string): string | undefined =>
  root === undefined ? undefined : `${root.replace(/[/\\]+$/, '')}/${name}`;

const absolute = (root: string): string => (checkAddress(root) ? root : localRoot(root));
