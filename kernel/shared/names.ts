import { CatalogError } from './errors.ts';

/** The components of a namespace from the root down; `[]` is the root namespace. */
export type NamespacePath = readonly string[];

/** The delimiter between the components of an identifier in the REST contract (specification, "Object identifier"). */
export const idDelimiter = '$';

const allowed = /^[A-Za-z0-9_.-]+$/;
const limits = { namespace: 64, table: 128, ref: 128, depth: 10 } as const;
const rule = 'letters, digits, "_", "-" and "."';

/**
 * Checks the name of a new namespace or table. The check is needed because an engine would accept any name and could
 * not reach some names afterwards. Existing names may break the rules; `checkKnownName` accepts such names.
 * @throws CatalogError InvalidInput (13)
 */
export function checkName(what: 'namespace' | 'table', name: unknown): asserts name is string {
  const problem = nameProblem(what, name);
  if (problem) throw new CatalogError('InvalidInput', problem.what, problem.hint);
}

/** Returns the problem with a name, for an input box, or `undefined` if the name is valid. */
export function nameProblem(what: 'namespace' | 'table', name: unknown): { what: string; hint: string } | undefined {
  const hint = `Use ${rule}.`;
  if (typeof name !== 'string')
    return { what: `A ${what} name must be a string, not ${name === null ? 'null' : typeof name}.`, hint };
  if (name === '') return { what: `A ${what} name must not be empty.`, hint };
  if (name === '.' || name === '..')
    return { what: `"${name}" can't be a ${what} name.`, hint: `Use ${rule}, and not only dots.` };
  if (!allowed.test(name)) {
    const bad = Array.from(name).find((char) => !allowed.test(char)) ?? '';
    return { what: `The ${what} name ${JSON.stringify(name)} contains ${JSON.stringify(bad)}.`, hint };
  }
  if (name.length > limits[what]) {
    return {
      what: `The ${what} name "${name.slice(0, 20)}…" has ${name.length} characters.`,
      hint: `Use at most ${limits[what]}.`,
    };
  }
  return undefined;
}

/**
 * Checks the name of an object that may exist. Accepts more than `checkName`, because other clients create names that
 * this product rejects for new objects (`ümlaut`, `a b`). Such objects can be listed, opened and dropped.
 * @throws CatalogError InvalidInput (13) if `name` is not a string or is empty, which no catalog can store
 */
export function checkKnownName(what: 'namespace' | 'table', name: unknown): asserts name is string {
  if (typeof name === 'string' && name !== '') {
    // A lone surrogate can't be encoded for a wire or a file, so no catalog stores it.
    if (!/\p{Surrogate}/u.test(name)) return;
    throw new CatalogError('InvalidInput', `The ${what} name ${JSON.stringify(name)} is not a string.`, `Use ${rule}.`);
  }
  const problem = nameProblem(what, name);
  if (problem) throw new CatalogError('InvalidInput', problem.what, problem.hint);
}

/** Checks the path of a namespace that may exist; see `checkKnownName`. @throws CatalogError InvalidInput (13) */
export function checkKnownPath(path: unknown): asserts path is NamespacePath {
  checkIsPath(path);
  for (const name of path) checkKnownName('namespace', name);
}

function checkIsPath(path: unknown): asserts path is readonly unknown[] {
  if (Array.isArray(path)) return;
  throw new CatalogError(
    'InvalidInput',
    'A namespace path must be an array of names.',
    'Write, for example, ["sales", "eu"].',
  );
}

/**
 * Checks the path of a new namespace: its last name is new, and the other names belong to existing namespaces.
 * @throws CatalogError InvalidInput (13)
 */
export function checkNamespacePath(path: unknown): asserts path is NamespacePath {
  checkIsPath(path);
  const problem = depthProblem(path);
  if (problem) throw new CatalogError('InvalidInput', problem.what, problem.hint);
  for (const name of path.slice(0, -1)) checkKnownName('namespace', name);
  if (path.length > 0) checkName('namespace', path.at(-1));
}

/** Returns the problem with a path of new names, or `undefined` if it is the valid path of a namespace. */
export const namespacePathProblem = (path: NamespacePath): { what: string; hint: string } | undefined =>
  path.map((name) => nameProblem('namespace', name)).find((problem) => problem !== undefined) ?? depthProblem(path);

const depthProblem = ({ length }: readonly unknown[]): { what: string; hint: string } | undefined =>
  length > limits.depth
    ? { what: `A namespace path of ${length} names is too deep.`, hint: `Use at most ${limits.depth}.` }
    : undefined;

const isRefPart = (part: string): boolean => allowed.test(part) && !/^\.|\.\.|\.$|\.lock$/.test(part);

/** The default branch of every table. */
export const mainBranch = 'main';

/**
 * Checks the name of a new tag or branch. The engine stores each tag and branch in a file, and can write some names
 * that it can't read. After a tag with such a name was created, listing the tags of the table fails.
 * @throws CatalogError InvalidInput (13)
 */
export function checkRefName(what: 'tag' | 'branch', name: unknown): asserts name is string {
  const hint = `Use ${rule}${what === 'branch' ? ', with "/" between' : ''}; at most ${limits.ref} characters.`;
  const wrong = (problem: string) => new CatalogError('InvalidInput', problem, hint);
  if (typeof name !== 'string' || name === '') throw wrong(`The ${what} has no name.`);
  const shown = name.length > 40 ? `${name.slice(0, 40)}…` : name;
  if (name === mainBranch)
    throw wrong(`"${name}" can't be the name of a ${what}: every table has a default branch of this name.`);
  const parts = what === 'branch' ? name.split('/') : [name];
  if (name.length > limits.ref || !parts.every(isRefPart)) {
    throw wrong(`${JSON.stringify(shown)} can't be the name of a ${what}.`);
  }
}

/** Formats a path for display: `sales/eu/orders`; the root is `/`. */
export const displayPath = (path: NamespacePath, table?: string): string =>
  [...path, ...(table === undefined ? [] : [table])].join('/') || '/';

/** Formats the path argument of a call for its error; `undefined` if it is not a path. */
export const displayGiven = (path: unknown): string | undefined =>
  Array.isArray(path) && path.every((name): name is string => typeof name === 'string') ? displayPath(path) : undefined;

/** An identifier for a URL; no component contains `delimiter`. */
type WireId = { id: string; delimiter: string };

// Names may contain any character. The delimiter is the first of these that no name contains.
const delimiters = [idDelimiter, '.', ':', '|', '~', '!', '*', '\u001f'] as const;

/**
 * Encodes the identifier of the REST contract: components joined by `$`, or by another delimiter if a name contains
 * `$`; the root is the delimiter alone (specification, "Object identifier").
 */
export function encodeId(path: NamespacePath, table?: string, preferred: string = idDelimiter): WireId {
  const parts = table === undefined ? path : [...path, table];
  // `.` alone is not used for the root: as a path segment of a URL it would be removed before the request is sent.
  if (parts.length === 0 && preferred === '.') return { id: idDelimiter, delimiter: idDelimiter };
  const candidates = [preferred, ...delimiters];
  const delimiter = candidates.find((one) => parts.every((part) => !part.includes(one))) ?? preferred;
  return { id: parts.join(delimiter) || delimiter, delimiter };
}

/** Splits an identifier into its components, without checking the names. */
export const decodeId = (id: string, delimiter: string = idDelimiter): string[] =>
  id === delimiter || id === '' ? [] : id.split(delimiter);

/** Finds a known name that differs in case only, or in one wrong, missing, added or swapped letter. */
export function nearestName(written: string, known: readonly string[]): string | undefined {
  const small = written.toLowerCase();
  return known.find((one) => one.toLowerCase() === small) ?? known.find((one) => isOneEditApart(one, written));
}

function isOneEditApart(a: string, b: string): boolean {
  if (Math.abs(a.length - b.length) > 1) return false;
  let start = 0;
  while (start < a.length && a[start] === b[start]) start++;
  let end = 0;
  while (end < Math.min(a.length, b.length) - start && a[a.length - 1 - end] === b[b.length - 1 - end]) end++;
  const [left, right] = [a.slice(start, a.length - end), b.slice(start, b.length - end)];
  if (left.length <= 1 && right.length <= 1) return true;
  return left.length === 2 && right.length === 2 && left[0] === right[1] && left[1] === right[0];
}
