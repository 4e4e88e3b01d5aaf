import type { Operation } from '#catalog/contract.ts';
import { unsupportedConnectOptions } from '#catalog/lancedb/unsupported.ts';
import { CatalogError, isCatalogError } from '#shared/errors.ts';
import { checkKnownName, checkKnownPath, checkName, displayGiven, type NamespacePath } from '#shared/names.ts';
import { isRecord } from '#shared/records.ts';

/** Options that every call takes. */
export type CallOptions = {
  /** Cancels the call, down to the socket if the call uses one. */
  signal?: AbortSignal | undefined;
};

/**
 * Rejects unknown options. If a misspelled option were dropped silently, the call would do something else, for instance
 * write to the root namespace.
 * @param prefixes beginnings of options whose names the caller chooses
 * @throws CatalogError InvalidInput (13) naming the option and the known ones
 */
export function checkOptions(
  call: string,
  options: unknown,
  known: readonly string[],
  prefixes: readonly string[] = [],
): void {
  if (options === undefined) return;
  if (!isRecord(options)) {
    throw new CatalogError(
      'InvalidInput',
      `The options of ${call} are not an object.`,
      `Known options: ${list(known)}.`,
    );
  }
  const isKnown = (key: string): boolean =>
    known.includes(key) || prefixes.some((prefix) => key.startsWith(prefix) && key !== prefix);
  const unknown = Object.keys(options).find((key) => !isKnown(key));
  if (unknown !== undefined) {
    const hint = Object.hasOwn(optionHints, unknown) ? optionHints[unknown]! : `Known options: ${list(known)}.`;
    throw new CatalogError('InvalidInput', `${call} has no option "${unknown}".`, hint);
  }
}

const formatHint = 'Leave it out: new tables have the newest format.';

/** What to use instead of options of LanceDB's package that this client does not have. */
const optionHints: Readonly<Record<string, string>> = {
  ...unsupportedConnectOptions,
  dataStorageVersion: formatHint,
  embeddingFunction: 'Compute the vectors and store them in a column, or fill a column with table.backfill().',
  embeddings: 'Compute the vectors and store them in a column, or fill a column with table.backfill().',
  enableV2ManifestPaths: formatHint,
  extraProperties: 'Write storageOptions for an object store, or headers for a server.',
  indexCacheSize: 'Leave it out: the engine chooses the size of its cache.',
  storageOptions: 'Set the storage options in connect() or connectNamespace("dir", …).',
};

const list = (names: readonly string[]): string => [...names].toSorted((a, b) => a.localeCompare(b)).join(', ');

/** The last arguments of a call. The namespace is a positional array or the named option `namespacePath`. */
export type NamespaceArguments<O> = [pathOrOptions?: NamespacePath | O | undefined, options?: O | undefined];

/**
 * Resolves the last arguments of a call to its namespace and its other options. It accepts both
 * `openTable(name, ['sales'], { version: 2 })` and `openTable(name, { namespacePath: ['sales'], version: 2 })`.
 * @throws CatalogError InvalidInput (13) for an unknown option, a bad path, or two paths that differ
 */
export function resolveTail<O extends { namespacePath?: NamespacePath | undefined }>(
  call: string,
  tail: readonly unknown[],
  known: readonly (keyof O & string)[],
): { namespacePath: NamespacePath; options: Omit<O, 'namespacePath'> } {
  const [first, second, ...more] = tail;
  if (more.length > 0) {
    throw new CatalogError('InvalidInput', `${call} was given too many arguments.`, 'Put all options in one object.');
  }
  const positional = Array.isArray(first) ? first : undefined;
  // `openTable('orders', 'shop')`: the string is meant as a namespace path, so the error is about the namespace path.
  if (typeof first === 'string') checkKnownPath(first);
  if (!positional && first !== undefined && second !== undefined) {
    throw new CatalogError(
      'InvalidInput',
      `Expected one object with options for ${call}, got two arguments.`,
      'Write the namespace path as an array before the options, or as the option namespacePath.',
    );
  }
  const given = positional ? second : (first ?? second);
  checkOptions(call, given, known);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- its keys were just checked
  const { namespacePath: named, ...options } = (given ?? {}) as O;
  if (named !== undefined) checkKnownPath(named);
  if (positional) checkKnownPath(positional);
  if (named && positional && !isSamePath(named, positional)) {
    throw new CatalogError(
      'InvalidInput',
      `${call} was given two namespaces, [${positional.join(', ')}] and namespacePath [${named.join(', ')}].`,
      'Pass only one of them.',
    );
  }
  return { namespacePath: [...(positional ?? named ?? [])], options };
}

export const isSamePath = (a: NamespacePath, b: NamespacePath): boolean =>
  a.length === b.length && a.every((name, index) => name === b[index]);

const createModes: readonly CreateMode[] = ['create', 'exist_ok', 'overwrite'];

/**
 * Resolves the arguments of a call about an existing table, such as `openTable(name, …)`.
 * @param known the options of the call, without the namespace and the signal
 * @throws CatalogError InvalidInput (13), also for a bad name
 */
export function tableCall<O extends CallOptions & { namespacePath?: NamespacePath | undefined }>(
  call: string,
  name: string,
  tail: readonly unknown[],
  known: readonly (keyof O & string)[],
): { namespacePath: NamespacePath; options: Omit<O, 'namespacePath'> } {
  return aboutTable(call, name, tail, () => {
    checkKnownName('table', name);
    return resolveTail<O>(call, tail, [...known, 'namespacePath', 'signal']);
  });
}

/**
 * Like `tableCall`, for a table to create: its name has to follow the naming rules. The namespace exists already, so
 * its name may have any characters.
 * @throws CatalogError InvalidInput (13)
 */
export function newTableCall<O extends CallOptions & { namespacePath?: NamespacePath | undefined }>(
  call: string,
  name: string,
  tail: readonly unknown[],
  known: readonly (keyof O & string)[],
): { namespacePath: NamespacePath; options: Omit<O, 'namespacePath'> } {
  aboutTable(call, name, tail, () => checkName('table', name));
  return tableCall<O>(call, name, tail, known);
}

/** Calls whose operation in the specification has a different name. */
const otherNames: Readonly<Record<string, Operation>> = {
  openTable: 'DescribeTable',
  isOnlyDeclared: 'DescribeTable',
  createEmptyTable: 'CreateTable',
};

const operationOf = (call: string): string => otherNames[call] ?? call[0]!.toUpperCase() + call.slice(1);

/** Runs the check of a call's arguments and adds the operation and, if it is known, the table to its error. */
function aboutTable<T>(call: string, name: unknown, [first, second]: readonly unknown[], check: () => T): T {
  try {
    return check();
  } catch (error) {
    const named = isRecord(first) ? first['namespacePath'] : isRecord(second) ? second['namespacePath'] : undefined;
    const path: unknown = Array.isArray(first) ? first : (named ?? []);
    const identifier = displayGiven(Array.isArray(path) ? [...path, name] : path);
    throw isCatalogError(error) ? error.about({ operation: operationOf(call), identifier }) : error;
  }
}

/** Returns the options of `dropNamespace` with their defaults. @throws CatalogError InvalidInput (13) */
export function checkDrop(options: DropNamespaceOptions): {
  mode: 'fail' | 'skip';
  behavior: 'restrict' | 'cascade';
} {
  checkOptions('dropNamespace', options, ['behavior', 'mode', 'signal']);
  return {
    mode: checkChoice('dropNamespace', 'mode', options.mode, ['fail', 'skip']) ?? 'fail',
    behavior: checkChoice('dropNamespace', 'behavior', options.behavior, ['restrict', 'cascade']) ?? 'restrict',
  };
}

/**
 * Returns the mode of a call that creates something. `existOk: true` is LanceDB's form of the mode `exist_ok`.
 * @throws CatalogError InvalidInput (13)
 */
export function checkCreateMode(call: string, mode: unknown, existOk?: unknown): CreateMode {
  if (existOk !== undefined && typeof existOk !== 'boolean') {
    throw new CatalogError('InvalidInput', `${call}: existOk is not a boolean.`, 'Pass true or false.');
  }
  const chosen = checkChoice(call, 'mode', mode, createModes) ?? 'create';
  return chosen === 'create' && existOk === true ? 'exist_ok' : chosen;
}

/**
 * Checks an option that has a fixed set of values.
 * @throws CatalogError InvalidInput (13) naming the values
 */
export function checkChoice<T extends string>(
  call: string,
  option: string,
  value: unknown,
  choices: readonly T[],
): T | undefined {
  if (value === undefined) return undefined;
  const choice = choices.find((known) => known === value);
  if (choice !== undefined) return choice;
  throw new CatalogError(
    'InvalidInput',
    `${JSON.stringify(value)} is not a valid ${option} of ${call}.`,
    `Use one of ${choices.map((known) => `"${known}"`).join(', ')}.`,
  );
}

/** @throws CatalogError InvalidInput (13) unless `undefined` or a whole number from 1 */
export function checkVersion(call: string, version: number | undefined): number | undefined {
  if (version === undefined) return undefined;
  if (Number.isSafeInteger(version) && version >= 1) return version;
  throw new CatalogError(
    'InvalidInput',
    `${call}: ${String(version)} is not a valid version.`,
    'Pass a whole number from 1.',
  );
}

/** @throws CatalogError InvalidInput (13) for a bad version, an empty tag or branch, or both a version and a tag */
export function checkOneVersion(
  call: string,
  { version, tag, branch }: { version?: number | undefined; tag?: string | undefined; branch?: string | undefined },
): void {
  checkVersion(call, version);
  for (const [option, value] of Object.entries({ tag, branch })) {
    if (value === undefined || (typeof value === 'string' && value !== '')) continue;
    throw new CatalogError(
      'InvalidInput',
      `${call}: the ${option} is not a valid name.`,
      'Pass a non-empty string, or leave it out.',
    );
  }
  if (version === undefined || tag === undefined) return;
  throw new CatalogError('InvalidInput', `${call} was given a version and a tag.`, 'Pass only one of them.');
}

/** Returns the page size (default: 100) and the page token. @throws CatalogError InvalidInput (13) */
export function checkPage(
  call: string,
  options: { limit?: number | undefined; pageToken?: string | undefined },
): {
  limit: number;
  pageToken: string | undefined;
} {
  const limit = options.limit ?? 100;
  if (!Number.isInteger(limit) || limit < 1 || limit > 1000) {
    throw new CatalogError('InvalidInput', `${call}: a page can't have ${String(limit)} names.`, 'Use 1 to 1000.');
  }
  const { pageToken } = options;
  if (pageToken !== undefined && typeof pageToken !== 'string') {
    throw new CatalogError(
      'InvalidInput',
      `${call}: the page token is not a string.`,
      'Pass the token of the previous page.',
    );
  }
  return { limit, pageToken };
}

export type CreateMode = 'create' | 'exist_ok' | 'overwrite';

export type DropNamespaceOptions = CallOptions & {
  /** What to do if the namespace does not exist: `fail` (default) or `skip`. */
  mode?: 'fail' | 'skip' | undefined;
  /** `restrict` (default) refuses a namespace that is not empty, `cascade` drops its content first. */
  behavior?: 'restrict' | 'cascade' | undefined;
};
