import { constants } from 'node:fs';
import { access, mkdir, opendir, stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { fileProblem } from '#processes/fileProblem.ts';
import { CatalogError, isCatalogError } from '#shared/errors.ts';
import { nearestName } from '#shared/names.ts';

/**
 * The default namespace directory of upstream's service. Tables are in the root and not in this directory, because
 * upstream clients look for them in the root.
 */
const defaultNamespaceDirectory = 'data';

// At least two letters, so that a Windows drive such as C:\data is a path.
const scheme = /^([a-z][a-z0-9+.-]+):\/\//i;

/** Whether a root is the URL of an object store (`s3://…`) and not a local path. */
export const isObjectStore = (root: string): boolean => {
  const found = scheme.exec(root)?.[1]?.toLowerCase();
  return found !== undefined && found !== 'file';
};

/** URL schemes that the engine can read and write. */
const stores = ['s3', 's3+ddb', 'gs', 'az', 'abfss', 'oss', 'hf', 'goosefs', 'file-object-store', 'file+uring'];

/**
 * Returns whether a root is the URL of a supported object store.
 * @throws CatalogError InvalidInput (13) for any other URL
 */
export function checkAddress(root: string): boolean {
  if (!isObjectStore(root)) return false;
  const name = scheme.exec(root)![1]!.toLowerCase();
  if (stores.includes(name)) return true;
  if (name === 'memory' || name === 'shared-memory') {
    const what = `"${root}" can't be opened here: a catalog in memory belongs to the process that created it.`;
    throw new CatalogError('InvalidInput', what, 'In a cell write connect("memory://"); elsewhere pass a directory.');
  }
  const isServer = name === 'http' || name === 'https';
  const isService = name === 'db';
  throw new CatalogError(
    'InvalidInput',
    `"${name}://" is not the address of an object store or a directory.`,
    isService
      ? 'For a service, use connectNamespace("rest", { uri, apiKey, database }) with its URL.'
      : isServer
        ? 'For a server, use connectNamespace("rest", { uri }).'
        : 'Pass a directory, or an address that starts with s3://, gs:// or az://.',
  );
}

/**
 * Returns the absolute local path of a root that is a path or a `file:` URL. `~` is the home directory, as in a
 * shell, and a trailing separator is dropped, so that one directory has one location.
 */
export function localRoot(root: string): string {
  try {
    if (scheme.test(root)) return resolve(fileURLToPath(root));
    return /^~(?=$|[/\\])/.test(root) ? resolve(homedir(), `.${root.slice(1)}`) : resolve(root);
  } catch (cause) {
    throw new CatalogError(
      'InvalidInput',
      `"${root}" is not a path on this machine.`,
      'Pass the path of a directory.',
      {
        cause,
      },
    );
  }
}

const codeOf = (error: unknown): unknown =>
  typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined;

/**
 * Creates the last folder of a root if it is missing. Does not create its parents by default: if the parent is missing
 * too, the path is probably misspelled.
 * @returns whether the folder was created
 * @throws CatalogError InvalidInput (13) naming the missing parent, PermissionDenied (15)
 */
export async function makeRoot(path: string, { withParents = false } = {}): Promise<boolean> {
  try {
    // With parents, an existing folder does not fail, and nothing is returned.
    const first = await mkdir(path, { recursive: withParents });
    return !withParents || first !== undefined;
  } catch (cause) {
    // If the path exists, `checkRoot` checks it later. A read-only file system reports EROFS also for a path that
    // exists.
    if (codeOf(cause) === 'EEXIST' || (await isThere(path))) return false;
    const parent = dirname(path);
    if (codeOf(cause) === 'ENOENT') {
      throw new CatalogError(
        'InvalidInput',
        `Can't create the folder "${path}": "${parent}" does not exist.`,
        `Create that folder with: ${makePath} ${quoted(parent)}; or correct the path.`,
        { cause },
      );
    }
    if (codeOf(cause) === 'ENOTDIR') {
      throw new CatalogError('InvalidInput', `"${parent}" is not a folder.`, 'Pass the path of a directory.', {
        cause,
      });
    }
    throw new CatalogError(
      'PermissionDenied',
      `Can't create the folder "${path}": ${fileProblem(cause)}.`,
      'Choose a directory that you can write to.',
      { cause },
    );
  }
}

/** Creates `data/` in a root. Reading a catalog does not need it, so a failure is only logged. */
export async function makeDefaultNamespace(root: string, log?: (line: string) => void): Promise<void> {
  const path = join(root, defaultNamespaceDirectory);
  try {
    await access(root, constants.W_OK);
    await mkdir(path);
  } catch (error) {
    // The existing entry may also be a file, or a broken link.
    if (codeOf(error) === 'EEXIST' && (await isDirectory(path))) return;
    log?.(`Can't create the default namespace directory "${path}": ${fileProblem(error)}`);
  }
}

const isDirectory = (path: string): Promise<boolean> =>
  stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  );

const isThere = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    () => false,
  );

const rootErrors = new WeakSet<CatalogError>();

/** Whether an error means that the root itself can't be read (see `checkRoot`), and not only something in the root. */
export const isRootError = (error: CatalogError): boolean => rootErrors.has(error);

/**
 * Checks that a local root can be read.
 * @returns an id that distinguishes this directory from a later one at the same path
 * @throws CatalogError InvalidInput (13) if it is missing or not a directory, PermissionDenied (15)
 */
export async function checkRoot(path: string): Promise<string> {
  try {
    return await readRoot(path);
  } catch (error) {
    if (isCatalogError(error)) rootErrors.add(error);
    throw error;
  }
}

async function readRoot(path: string): Promise<string> {
  try {
    const found = await stat(path, { bigint: true });
    if (!found.isDirectory()) {
      throw new CatalogError(
        'InvalidInput',
        `Expected a directory, got a file: "${path}".`,
        'Pass the directory that contains the tables.',
      );
    }
    await access(path, constants.R_OK | constants.X_OK);
    return `${found.dev}:${found.ino}`;
  } catch (cause) {
    if (cause instanceof CatalogError) throw cause;
    const code = codeOf(cause);
    if (code === 'ENOENT' || code === 'ENOTDIR') {
      throw new CatalogError('InvalidInput', `There is no directory "${path}".`, await missingFolderStep(path), {
        cause,
      });
    }
    throw new CatalogError(
      'PermissionDenied',
      `Can't read "${path}": permission denied (${String(code)}).`,
      `Get the rights to read and search it, for instance with: chmod u+rx ${quoted(path)}.`,
      { cause },
    );
  }
}

async function missingFolderStep(path: string): Promise<string> {
  const meant = await nearestFolder(path);
  if (meant !== undefined) return `Did you mean "${meant}"?`;
  const make = (await isThere(dirname(path))) ? 'mkdir' : makePath;
  return `Correct the path, or create it with: ${make} ${quoted(path)}.`;
}

/** A folder with more entries is not searched to its end. */
const maxEntries = 1000;

/** Returns the folder beside a path whose name differs in one letter or in case. */
export async function nearestFolder(path: string): Promise<string | undefined> {
  const [parent, name] = [dirname(path), basename(path)];
  const names: string[] = [];
  try {
    for await (const entry of await opendir(parent)) {
      if (names.length === maxEntries) break;
      if (entry.isDirectory() && entry.name !== name) names.push(entry.name);
    }
  } catch {
    // Without names there is no suggestion.
  }
  const meant = nearestName(name, names);
  return meant && join(parent, meant);
}

/** The command that also creates missing parents; on Windows `mkdir` always creates them. */
const makePath = process.platform === 'win32' ? 'mkdir' : 'mkdir -p';

/** A path as an argument of a command line. */
const quoted = (path: string): string =>
  /^[\w./:\\-]+$/.test(path) ? path : process.platform === 'win32' ? `"${path}"` : `'${path.replaceAll("'", `'\\''`)}'`;
