import { CatalogError } from './errors.ts';

/** The components of a namespace from the root down; `[]` is the root namespace. */
export type NamespacePath = readonly string[];

/** The delimiter between the components of an identifier in the REST contract (specification, "Object identifier"). */
export const idDelimiter = '$';

const allowed = /^[A-Za-z0-9_.-]+$/;
const limits = { namespace: 64, table: 128, depth: 10 } as const;
const rule = 'letters, digits, "_", "-" and "."';

/**
 * Checks a name before it reaches an engine, which would accept anything and keep some of it unreachable.
 * @throws CatalogError InvalidInput (13)
 */
export function checkName(what: 'namespace' | 'table', name: unknown): asserts name is string {
  const problem = nameProblem(what, name);
  if (problem) throw new CatalogError('InvalidInput', problem.what, problem.hint);
}

/** The same rule as a sentence for an input box; `undefined` when the name is fine. */
export function nameProblem(what: 'namespace' | 'table', name: unknown): { what: string; hint: string } | undefined {
  const hint = `Use ${rule}.`;
  if (typeof name !== 'string')
    return { what: `A ${what} name must be a string, not ${name === null ? 'null' : typeof name}.`, hint };
  if (name === '') return { what: `A ${what} name must not be empty.`, hint };
  if (name === '.' || name === '..')
    return { what: `"${name}" can't be a ${what} name.`, hint: `Use ${rule}, and not only dots.` };
  if (!allowed.test(name)) {
    const bad = Array.from(name).find((char) => !allowed.test(char)) ?? '';
    return { what: `The ${what} name ${JSON.stringify(name)} holds ${JSON.stringify(bad)}.`, hint };
  }
  if (name.length > limits[what]) {
    return {
      what: `The ${what} name "${name.slice(0, 20)}…" has ${name.length} characters.`,
      hint: `Use at most ${limits[what]}.`,
    };
  }
  return undefined;
}

/** @throws CatalogError InvalidInput (13) */
export function checkNamespacePath(path: unknown): asserts path is NamespacePath {
  if (!Array.isArray(path)) {
    throw new CatalogError(
      'InvalidInput',
      'A namespace path must be an array of names.',
      'Write for instance ["sales", "eu"].',
    );
  }
  if (path.length > limits.depth) {
    throw new CatalogError(
      'InvalidInput',
      `A namespace path of ${path.length} names is too deep.`,
      `Use at most ${limits.depth}.`,
    );
  }
  for (const name of path) checkName('namespace', name);
}

/** How a path is written for people: `sales/eu/orders`; the root is `/`. */
export const displayPath = (path: NamespacePath, table?: string): string =>
  [...path, ...(table === undefined ? [] : [table])].join('/') || '/';

/** The identifier of the REST contract: components joined by `$`, the root is `$` alone. */
export const encodeId = (path: NamespacePath, table?: string): string =>
  [...path, ...(table === undefined ? [] : [table])].join(idDelimiter) || idDelimiter;

/** The components of an identifier; the names are not checked here. */
export const decodeId = (id: string, delimiter: string = idDelimiter): string[] =>
  id === delimiter || id === '' ? [] : id.split(delimiter);
