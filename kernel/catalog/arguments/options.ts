import type { Operation } from '#catalog/contract.ts';
import { CatalogError, isCatalogError } from '#shared/errors.ts';
import { checkKnownName, checkKnownPath, checkName, displayGiven, type NamespacePath } from '#shared/names.ts';
import { isRecord } from '#shared/records.ts';

/** Options that every call takes. */
export type CallOptions = {
  /** Cancels the call, down to the socket where there is one. */
  signal?: AbortSignal | undefined;
};

/**
 * Refuses what a call does not know. A misspelled option that is quietly dropped does something other than was asked,
 * such as writing to the root namespace. `prefixes` are beginnings of options that are named by who calls.
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
    throw new CatalogError('InvalidInput', `The options of ${call} are not an object.`, `It knows: ${list(known)}.`);
  }
  const isKnown = (key: string): boolean =>
    known.includes(key) || prefixes.some((prefix) => key.startsWith(prefix) && key !== prefix);
  const unknown = Object.keys(options).find((key) => !isKnown(key));
  if (unknown !== undefined) {
    throw new CatalogError('InvalidInput', `${call} has no option "${unknown}".`, `It knows: ${list(known)}.`);
  }
}

const list = (names: readonly string[]): string => [...names].toSorted((a, b) => a.localeCompare(b)).join(', ');

/** The last arguments of a call that takes the namespace as a named option or as a positional array. */
export type Tail<O> = [pathOrOptions?: NamespacePath | O | undefined, options?: O | undefined];

/**
 * Resolves the tail of a call such as `openTable(name, ['sales'], { version: 2 })` or
 * `openTable(name, { namespacePath: ['sales'], version: 2 })` to the one and to the other.
 * @throws CatalogError InvalidInput (13) for an unknown option, a bad path, or two paths that differ
 */
export function resolveTail<O extends { namespacePath?: NamespacePath | undefined }>(
  call: string,
  tail: readonly unknown[],
  known: readonly (keyof O & string)[],
): { namespacePath: NamespacePath; options: Omit<O, 'namespacePath'> } {
  const [first, second, ...more] = tail;
  if (more.length > 0) {
    throw new CatalogError('InvalidInput', `${call} was given too many arguments.`, 'Put options in one object.');
  }
  const positional = Array.isArray(first) ? first : undefined;
  // `openTable('orders', 'shop')`: what was meant is clear, and the options are not what is wrong.
  if (typeof first === 'string') checkKnownPath(first);
  if (!positional && first !== undefined && second !== undefined) {
    throw new CatalogError(
      'InvalidInput',
      `${call} was given two things where one object of options belongs.`,
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
      'Give one of them.',
    );
  }
  return { namespacePath: [...(positional ?? named ?? [])], options };
}

/** Whether two paths name the same namespace. */
export const isSamePath = (a: NamespacePath, b: NamespacePath): boolean =>
  a.length === b.length && a.every((name, index) => name === b[index]);

const createModes: readonly CreateMode[] = ['create', 'exist_ok', 'overwrite'];

/**
 * Resolves the arguments of a call about a table that exists, such as `openTable(name, …)`; `known` are its options
 * beside the namespace and the signal.
 * @throws CatalogError InvalidInput (13) for a bad name too
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
 * `tableCall` for a table that is about to be made: its name has to follow the rules, the namespace is one that exists.
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

/** The specification's operations of calls that have another name. */
const otherNames: Readonly<Record<string, Operation>> = {
  openTable: 'DescribeTable',
  isOnlyDeclared: 'DescribeTable',
  createEmptyTable: 'CreateTable',
};

const operationOf = (call: string): string => otherNames[call] ?? call[0]!.toUpperCase() + call.slice(1);

/** Checks the arguments of a call about a table; an error says of which, as far as that can be told from them. */
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

/** The options of `dropNamespace` with what they are when not given. @throws CatalogError InvalidInput (13) */
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

/** @throws CatalogError InvalidInput (13) */
export function checkCreateMode(call: string, mode: unknown): CreateMode {
  return checkChoice(call, 'mode', mode, createModes) ?? 'create';
}

/**
 * An option that is one of a few words.
 * @throws CatalogError InvalidInput (13) naming them
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
    `${call} has no ${option} ${JSON.stringify(value)}.`,
    `Give one of ${choices.map((known) => `"${known}"`).join(', ')}.`,
  );
}

/** @throws CatalogError InvalidInput (13) unless `undefined` or a whole number from 1 */
export function checkVersion(call: string, version: number | undefined): number | undefined {
  if (version === undefined) return undefined;
  if (Number.isSafeInteger(version) && version >= 1) return version;
  throw new CatalogError(
    'InvalidInput',
    `${call}: ${String(version)} is not a version.`,
    'Give a whole number from 1.',
  );
}

/** @throws CatalogError InvalidInput (13) for a bad version, an empty tag or branch, or a version and a tag */
export function checkOneVersion(
  call: string,
  { version, tag, branch }: { version?: number | undefined; tag?: string | undefined; branch?: string | undefined },
): void {
  checkVersion(call, version);
  for (const [option, value] of Object.entries({ tag, branch })) {
    if (value === undefined || (typeof value === 'string' && value !== '')) continue;
    throw new CatalogError('InvalidInput', `${call}: the ${option} is no name.`, 'Give text, or leave it out.');
  }
  if (version === undefined || tag === undefined) return;
  throw new CatalogError('InvalidInput', `${call} was given a version and a tag.`, 'Give one of them.');
}

/** The page size that a call asks for; 100 when it does not say. @throws CatalogError InvalidInput (13) */
export function checkPage(
  call: string,
  options: { limit?: number | undefined; pageToken?: string | undefined },
): {
  limit: number;
  pageToken: string | undefined;
} {
  const limit = options.limit ?? 100;
  if (!Number.isInteger(limit) || limit < 1 || limit > 1000) {
    throw new CatalogError('InvalidInput', `${call}: a page can't have ${String(limit)} names.`, 'Give 1 to 1000.');
  }
  const { pageToken } = options;
  if (pageToken !== undefined && typeof pageToken !== 'string') {
    throw new CatalogError(
      'InvalidInput',
      `${call}: the page token is not text.`,
      'Pass on the one of the page before.',
    );
  }
  return { limit, pageToken };
}

export type CreateMode = 'create' | 'exist_ok' | 'overwrite';

export type DropNamespaceOptions = CallOptions & {
  /** `fail` (default) or `skip` when the namespace is not there. */
  mode?: 'fail' | 'skip' | undefined;
  /** `restrict` (default) refuses a namespace that holds something, `cascade` drops what it holds first. */
  behavior?: 'restrict' | 'cascade' | undefined;
};
