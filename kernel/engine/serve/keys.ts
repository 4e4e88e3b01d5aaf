import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { CatalogError } from '#shared/errors.ts';
import { displayPath, nameProblem, namespacePathProblem, type NamespacePath } from '#shared/names.ts';

const accesses = ['read-only', 'read-write'] as const;
export type Access = (typeof accesses)[number];

/** An API key. The key itself is not stored, only its SHA-256 and a name for logs. */
export type ApiKey = {
  name: string;
  digest: Buffer;
  access: Access;
  /** The databases that the key opens, `*` for all. */
  databases: readonly string[] | '*';
  /** The namespace of each of these databases that is the root for the key; `[]` for the whole database. */
  namespacePath: NamespacePath;
};

/** Random keys need no slow hash, since they can't be guessed from a dictionary. */
export const digestOf = (key: string): Buffer => createHash('sha256').update(key).digest();

/**
 * Finds the presented key. All digests have the same length and all are compared, so the time does not reveal how much
 * of a guess was right or which key it was. An empty key never matches.
 */
export function findKey(keys: readonly ApiKey[], presented: string): ApiKey | undefined {
  if (presented === '') return undefined;
  const digest = digestOf(presented);
  let found: ApiKey | undefined;
  for (const key of keys) if (timingSafeEqual(key.digest, digest)) found = key;
  return found;
}

/**
 * Parses a key file. Each line has a name, a SHA-256 in hexadecimal, `read-only` or `read-write`, and databases
 * separated by commas, or `*`. `namespace=shop/eu` can follow. `#` starts a comment.
 * @throws CatalogError InvalidInput (13) naming the line
 */
export function parseKeys(text: string): ApiKey[] {
  const keys: ApiKey[] = [];
  for (const [index, line] of text.split(/\r?\n/).entries()) {
    const words = line.replace(/(^|\s)#.*$/, '').trim();
    if (words === '') continue;
    const key = parseLine(words.split(/\s+/), index + 1);
    const same = keys.find(({ name, digest }) => name === key.name || digest.equals(key.digest));
    if (same) throw wrongLine(index + 1, `repeats the name or the key of "${same.name}"`, 'Use one line for each key.');
    keys.push(key);
  }
  // An editor may leave the file empty for a moment while it writes, so an empty file is an error and never means "no
  // more keys".
  if (keys.length === 0) {
    throw new CatalogError('InvalidInput', 'The key file contains no key.', `Create one with: ${makeKeyHint}.`);
  }
  return keys;
}

const makeKeyHint = 'lance-catalog serve new-key NAME';

function parseLine(words: readonly string[], line: number): ApiKey {
  const [name = '', hash = '', access = '', databases = '', namespace = '', ...more] = words;
  const problem = keyNameProblem(name);
  if (problem) throw wrongLine(line, problem, 'Start it with a name.');
  if (!/^[0-9a-f]{64}$/i.test(hash)) {
    // The message does not contain the value, because it may be the key itself, by mistake.
    throw wrongLine(line, 'has no SHA-256 as its second field', `Create a line with: ${makeKeyHint}.`);
  }
  if (hash.toLowerCase() === digestOf('').toString('hex')) {
    // This digest comes, for instance, from a script whose variable is not set.
    throw wrongLine(line, 'has the SHA-256 of an empty key', `Create a line with: ${makeKeyHint}.`);
  }
  const known = accesses.find((one) => one === access);
  if (!known)
    throw wrongLine(line, 'does not say what the key can do', `Write ${accesses.join(' or ')} as the third field.`);
  if (databases === '' || more.length > 0 || !(namespace === '' || namespace.startsWith(namespaceField))) {
    throw wrongLine(
      line,
      `does not end with the databases or ${namespaceField}…`,
      'Write the databases as the fourth field, with commas and no spaces, or *.',
    );
  }
  return {
    name,
    digest: Buffer.from(hash, 'hex'),
    access: known,
    databases: parseDatabases(databases, line),
    namespacePath: namespace === '' ? [] : parseNamespace(namespace.slice(namespaceField.length), line),
  };
}

/** The start of the fifth field. It is written out, so that a list of databases with a space is an error. */
const namespaceField = 'namespace=';

/** An invalid namespace is an error: a key that lost its namespace would open the whole database. */
function parseNamespace(text: string, line: number): NamespacePath {
  const path = text.split('/');
  const problem = namespacePathProblem(path);
  if (problem)
    throw wrongLine(
      line,
      `has "${text}", which is not a valid namespace: ${problem.what.replace(/\.$/, '')}`,
      'Write names with "/" between them.',
    );
  return path;
}

function parseDatabases(text: string, line: number): ApiKey['databases'] {
  if (text === '*') return '*';
  const names = text.split(',');
  for (const name of names) {
    if (nameProblem('namespace', name))
      throw wrongLine(line, `has "${name}", which is not a valid database name`, 'Correct the name.');
  }
  return names;
}

function wrongLine(line: number, what: string, hint: string): CatalogError {
  return new CatalogError('InvalidInput', `Line ${line} of the key file ${what}.`, hint);
}

/** Names appear in logs and are the first word of a line. */
const keyNameProblem = (name: string): string | undefined =>
  /^[A-Za-z0-9][A-Za-z0-9_.@-]{0,63}$/.test(name) ? undefined : 'does not start with a valid key name';

/**
 * Creates a random key and its line for the key file. The prefix lets secret scanners recognize a leaked key.
 * @throws CatalogError InvalidInput (13) for a name that could not be parsed back
 */
export function makeKey(
  name: string,
  access: Access,
  databases: ApiKey['databases'],
  namespacePath: NamespacePath = [],
): { key: string; line: string } {
  const key = `lc_${randomBytes(32).toString('base64url')}`;
  const places = databases === '*' ? '*' : databases.join(',');
  const namespace = namespacePath.length === 0 ? '' : ` ${namespaceField}${displayPath(namespacePath)}`;
  const line = `${name} ${digestOf(key).toString('hex')} ${access} ${places}${namespace}`;
  if (keyNameProblem(name)) {
    throw new CatalogError(
      'InvalidInput',
      `"${name}" can't be the name of a key.`,
      'Use letters, digits, "_", "-", "." and "@".',
    );
  }
  parseKeys(line);
  return { key, line };
}
