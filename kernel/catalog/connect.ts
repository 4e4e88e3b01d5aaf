import { isAbsolute } from 'node:path';
import type { CatalogConfig, DirConfig, RestConfig } from '#shared/catalogConfig.ts';
import { CatalogError } from '#shared/errors.ts';
import { isRecord } from '#shared/records.ts';
import type { Catalog } from './catalog.ts';
import { checkOptions } from '#catalog/arguments/options.ts';
import type { unsupportedConnectOptions, UnsupportedOptions } from '#catalog/lancedb/unsupported.ts';
import { recordConnection } from './tableReference.ts';
import { createMemoryRoot, isMemoryRoot } from './memoryRoot.ts';
import { checkAddress, localRoot, makeDefaultNamespace, makeRoot, nearestFolder } from './root.ts';

export type { DirConfig, RestConfig } from '#shared/catalogConfig.ts';

export type ConnectOptions = UnsupportedOptions<typeof unsupportedConnectOptions> & {
  /** Cancels the connection attempt. */
  signal?: AbortSignal | undefined;
  /** Receives messages that are not errors. Default: they are dropped. */
  log?: ((line: string) => void) | undefined;
  /** The next step shown if a server rejects the key. Default: a general hint. */
  keyHint?: string | undefined;
  /** Settings of the object store that `connect` opens, with the names that the store's own client uses. */
  storageOptions?: Record<string, string> | undefined;
  /**
   * LanceDB's limit, in seconds, for how far a read may lag behind writes. It has no effect: every read sees the newest
   * version.
   */
  readConsistencyInterval?: number | undefined;
};

/** A catalog implementation: its configuration keys and how it connects. */
type Implementation<C> = {
  readonly keys: readonly (keyof C & string)[];
  /** Beginnings of keys whose names the user chooses: `headers.`. */
  readonly keyPrefixes?: readonly string[];
  connect(config: C, options: ConnectOptions): Promise<Catalog>;
};

export type Implementations = { dir: DirConfig; rest: RestConfig };

const registry: { [N in keyof Implementations]?: Implementation<Implementations[N]> } = {};

const connectOptions = [
  'signal',
  'log',
  'keyHint',
  'readConsistencyInterval',
] as const satisfies (keyof ConnectOptions)[];

function checkConnectOptions(call: string, options: ConnectOptions, more: readonly string[] = []): void {
  checkOptions(call, options, [...connectOptions, ...more]);
  const { readConsistencyInterval: seconds } = options;
  if (seconds === undefined || seconds === null || (typeof seconds === 'number' && seconds >= 0)) return;
  const what = `${call}: ${String(seconds)} is not a valid readConsistencyInterval.`;
  throw new CatalogError('InvalidInput', what, 'Leave it out: every read sees the newest version.');
}

/**
 * Refuses parts of the configuration that the caller passed as options. Callers confuse the two arguments, because both
 * are objects.
 * @throws CatalogError InvalidInput (13)
 */
function checkNotOptions<C>(name: string, { keys, keyPrefixes = [] }: Implementation<C>, options: unknown): void {
  const given = isRecord(options) ? Object.keys(options) : [];
  const known: readonly string[] = keys;
  const moved = given.find((key) => known.includes(key) || keyPrefixes.some((prefix) => key.startsWith(prefix)));
  if (moved === undefined) return;
  const what = `connectNamespace("${name}") has no option "${moved}" in its third argument.`;
  const parts = [keys[0]!, moved].filter((key, index, all) => all.indexOf(key) === index);
  throw new CatalogError(
    'InvalidInput',
    what,
    `Put it into the second one: connectNamespace("${name}", { ${parts.join(', ')} }).`,
  );
}

/**
 * Registers an implementation for `connect` and `connectNamespace`. This module loads no implementation: in a kernel
 * `dir` is 200 MB of native code, in an editor `dir` is a child process, and only the main program knows which one to
 * use.
 */
export function registerImplementation<N extends keyof Implementations>(
  name: N,
  implementation: Implementation<Implementations[N]>,
): void {
  Object.assign(registry, { [name]: implementation });
}

/**
 * Connects to the catalog in a directory: `connect('./data')`. Creates the missing folders of a path below the working
 * folder. For any other path it creates only the last folder, because a missing parent is probably a misspelled path.
 * In the folder it creates the default namespace directory `data/`, and says that the folder is new. In an object
 * store, the call creates nothing. `memory://` creates a catalog in a temporary folder, which is removed when this
 * process ends.
 * @throws CatalogError InvalidInput (13) naming the path, PermissionDenied (15), Unsupported (0) without the engine
 */
export async function connect(
  root: string | (ConnectOptions & { uri: string }),
  options: ConnectOptions = {},
): Promise<Catalog> {
  // One signature, because the error of an overloaded call hides the hint of an unsupported option.
  const { uri, ...own } = typeof root === 'object' && root !== null ? root : { uri: root };
  return connectRoot(uri, { ...own, ...options });
}

async function connectRoot(root: string, options: ConnectOptions): Promise<Catalog> {
  checkConnectOptions('connect', options, ['storageOptions']);
  if (typeof root !== 'string' || root === '') {
    throw new CatalogError('InvalidInput', 'connect needs a directory.', 'Write for instance connect("./data").');
  }
  const implementation = implementationOf('dir');
  options.signal?.throwIfAborted();
  const { storageOptions } = options;
  if (isMemoryRoot(root)) {
    const path = createMemoryRoot();
    return connected('dir', await implementation.connect({ root: path }, options), { root: path });
  }
  if (!checkAddress(root)) {
    const path = localRoot(root);
    // The documentation of LanceDB connects to paths like "data/sample-lancedb" in a new folder.
    if (await makeRoot(path, { withParents: isBelowWorkingFolder(root) }))
      (options.log ?? noteNewRoot)(await newRootLine(path));
    await makeDefaultNamespace(path, options.log);
    return connected('dir', await implementation.connect({ root: path }, options), { root });
  }
  const config = { root, ...(storageOptions && { storageOptions }) };
  return connected('dir', await implementation.connect(config, options), config);
}

let noteNewRoot: (line: string) => void = () => {};

/** Sets where this process says that `connect` created a folder, because the path may be misspelled. */
export function onNewRoot(note: (line: string) => void): void {
  noteNewRoot = note;
}

async function newRootLine(path: string): Promise<string> {
  const meant = await nearestFolder(path);
  return `Created the folder "${path}" for a new catalog.${meant === undefined ? '' : ` Did you mean "${meant}"?`}`;
}

const isBelowWorkingFolder = (root: string): boolean =>
  !isAbsolute(root) && !root.startsWith('~') && !root.split(/[\\/]/).includes('..');

/**
 * Connects to a catalog by the name of its implementation: `connectNamespace('dir', { root })` or
 * `connectNamespace('rest', { uri, headers })`. Creates no directory.
 * @throws CatalogError InvalidInput (13) for a bad configuration, Unsupported (0) for an implementation that is not
 * registered
 */
export async function connectNamespace<N extends keyof Implementations>(
  implementation: N,
  config: Implementations[N],
  options: ConnectOptions = {},
): Promise<Catalog> {
  const call = `connectNamespace("${implementation}")`;
  const found = implementationOf(implementation);
  checkNotOptions(implementation, found, options);
  checkConnectOptions(call, options);
  checkOptions(call, config, found.keys, found.keyPrefixes);
  if (config === undefined)
    throw new CatalogError('InvalidInput', `${call} needs a configuration.`, 'Pass a root or a uri.');
  options.signal?.throwIfAborted();
  return connected(implementation, await found.connect(config, options), config, options.keyHint);
}

/**
 * Records for jobs how a catalog was connected. The path of a directory is stored as absolute, because jobs have
 * another working folder.
 */
function connected<N extends keyof Implementations>(
  implementation: N,
  catalog: Catalog,
  config: Implementations[N],
  keyHint?: string,
): Catalog {
  const at = implementation === 'dir' ? { root: catalog.location } : keyHint !== undefined && { keyHint };
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a configuration of that implementation, by its type
  return recordConnection(catalog, { implementation, ...config, ...at } as CatalogConfig);
}

function implementationOf<N extends keyof Implementations>(name: N): Implementation<Implementations[N]> {
  const found = Object.hasOwn(registry, name) ? registry[name] : undefined;
  if (found) return found;
  throw notRegistered(name);
}

/**
 * Returns the error for an implementation that is not registered in this process; the error names the registered ones.
 */
export function notRegistered(name: string): CatalogError {
  const there = Object.keys(registry).map((known) => `"${known}"`);
  return new CatalogError(
    'Unsupported',
    `This process has no catalog implementation "${name}".`,
    there.length > 0 ? `Use one of ${there.join(', ')}.` : 'No implementation is registered in this process.',
  );
}
