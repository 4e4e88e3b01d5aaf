import { CatalogError } from './errors.ts';

/** The components of a namespace from the root down; `[]` is the root namespace. */
export type NamespacePath = readonly string[];

/** The delimiter between the components of an identifier in the REST contract (specification, "Object identifier"). */
export const idDelimiter = '$';

const allowed = /^[A-Za-z0-9_.-]+$/;
const limits = { namespace: 64, table: 128, ref: 128, depth: 10 } as const;
const rule = 'letters, digits, "_", "-" and "."';

/**
 * Checks a name that is about to be made, before it reaches an engine, which would accept anything and keep some of it
 * unreachable. Names that exist already may be others: `checkKnownName`.
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

/**
 * Checks the name of something that may exist: other clients make names that ours would refuse (`ümlaut`, `a b`), and
 * those are listed, opened and dropped as they are.
 * @throws CatalogError InvalidInput (13) for what is no text or empty, which no catalog can hold
 */
export function checkKnownName(what: 'namespace' | 'table', name: unknown): asserts name is string {
  if (typeof name === 'string' && name !== '') {
    // Half of a character has no form on a wire or in a file, so no catalog holds it.
    if (!/\p{Surrogate}/u.test(name)) return;
    throw new CatalogError('InvalidInput', `The ${what} name ${JSON.stringify(name)} is no text.`, `Use ${rule}.`);
  }
  const problem = nameProblem(what, name);
  if (problem) throw new CatalogError('InvalidInput', problem.what, problem.hint);
}

/** The path of a namespace that may exist; see `checkKnownName`. @throws CatalogError InvalidInput (13) */
export function checkKnownPath(path: unknown): asserts path is NamespacePath {
  checkIsPath(path);
  for (const name of path) checkKnownName('namespace', name);
}

function checkIsPath(path: unknown): asserts path is readonly unknown[] {
  if (Array.isArray(path)) return;
  throw new CatalogError(
    'InvalidInput',
    'A namespace path must be an array of names.',
    'Write for instance ["sales", "eu"].',
  );
}

/**
 * The path of a namespace that is about to be made: its last name is new, those before it are of namespaces that exist.
 * @throws CatalogError InvalidInput (13)
 */
export function checkNamespacePath(path: unknown): asserts path is NamespacePath {
  checkIsPath(path);
  if (path.length > limits.depth) {
    throw new CatalogError(
      'InvalidInput',
      `A namespace path of ${path.length} names is too deep.`,
      `Use at most ${limits.depth}.`,
    );
  }
  for (const name of path.slice(0, -1)) checkKnownName('namespace', name);
  if (path.length > 0) checkName('namespace', path.at(-1));
}

const isRefPart = (part: string): boolean => allowed.test(part) && !/^\.|\.\.|\.$|\.lock$/.test(part);

/** The line of versions that every table has. */
export const mainBranch = 'main';

/**
 * Checks the name of a tag or a branch that is about to be made. The engine keeps each in a file, and writes some names
 * that it then can't read: with one of those no tag of the table is listed any more.
 * @throws CatalogError InvalidInput (13)
 */
export function checkRefName(what: 'tag' | 'branch', name: unknown): asserts name is string {
  const hint = `Use ${rule}${what === 'branch' ? ', with "/" between' : ''}; at most ${limits.ref} characters.`;
  const wrong = (problem: string) => new CatalogError('InvalidInput', problem, hint);
  if (typeof name !== 'string' || name === '') throw wrong(`The ${what} has no name.`);
  const shown = name.length > 40 ? `${name.slice(0, 40)}…` : name;
  if (name === mainBranch)
    throw wrong(`"${name}" can't be the name of a ${what}: it is the line of versions of every table.`);
  const parts = what === 'branch' ? name.split('/') : [name];
  if (name.length > limits.ref || !parts.every(isRefPart)) {
    throw wrong(`${JSON.stringify(shown)} can't be the name of a ${what}.`);
  }
}

/** How a path is written for people: `sales/eu/orders`; the root is `/`. */
export const displayPath = (path: NamespacePath, table?: string): string =>
  [...path, ...(table === undefined ? [] : [table])].join('/') || '/';

/** The path that a call was given, for its error; `undefined` for what is none. */
export const displayGiven = (path: unknown): string | undefined =>
  Array.isArray(path) && path.every((name): name is string => typeof name === 'string') ? displayPath(path) : undefined;

/** An identifier as it goes into an address: `delimiter` is not in it but between the components. */
type WireId = { id: string; delimiter: string };

// What a name may hold is unknown; the first of these that none of them does is the delimiter.
const delimiters = [idDelimiter, '.', ':', '|', '~', '!', '*', '\u001f'] as const;

/**
 * The identifier of the REST contract: components joined by `$`, or by another delimiter where a name holds that; the
 * root is the delimiter alone (specification, "Object identifier").
 */
export function encodeId(path: NamespacePath, table?: string, preferred: string = idDelimiter): WireId {
  const parts = table === undefined ? path : [...path, table];
  // A lone dot in an address means "here", and is gone before a server sees it.
  if (parts.length === 0 && preferred === '.') return { id: idDelimiter, delimiter: idDelimiter };
  const candidates = [preferred, ...delimiters];
  const delimiter = candidates.find((one) => parts.every((part) => !part.includes(one))) ?? preferred;
  return { id: parts.join(delimiter) || delimiter, delimiter };
}

/** The components of an identifier; the names are not checked here. */
export const decodeId = (id: string, delimiter: string = idDelimiter): string[] =>
  id === delimiter || id === '' ? [] : id.split(delimiter);

/** The name that was meant, where one is written in other capitals, or with one letter wrong, missing, added or swapped. */
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
