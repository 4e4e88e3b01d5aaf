import type { CatalogConfig, DirConfig, RestConfig } from '#shared/catalogConfig.ts';
import { CatalogError } from '#shared/errors.ts';
import type { Catalog } from './catalog.ts';
import { checkOptions } from '#catalog/arguments/options.ts';
import { recordConnection } from './tableReference.ts';
import { createMemoryRoot, isMemoryRoot } from './memoryRoot.ts';
import { checkAddress, localRoot, makeDefaultNamespace, makeRoot } from './root.ts';

export type { DirConfig, RestConfig } from '#shared/catalogConfig.ts';

export type ConnectOptions = {
  /** Cancels the connection attempt. */
  signal?: AbortSignal | undefined;
  /** Receives messages that are not errors. Default: they are dropped. */
  log?: ((line: string) => void) | undefined;
  /** The next step shown if a server rejects the key. Default: a general hint. */
  keyHint?: string | undefined;
  /** Settings of the object store of `connect`, with the names that its own client uses. */
  storageOptions?: Record<string, string> | undefined;
  /** Seconds that a read may lag behind writes. Every read sees the newest version, so any number is kept. */
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
 * Connects to the catalog in a directory: `connect('./data')`. Creates a missing last folder (its parent must exist)
 * and the default namespace directory `data/` in it; the URL of an object store is used as it is. `memory://` is a new
 * catalog in a temporary folder, which is removed when this process ends.
 * @throws CatalogError InvalidInput (13) naming the path, PermissionDenied (15), Unsupported (0) without the engine
 */
export async function connect(root: string, options?: ConnectOptions): Promise<Catalog>;
export async function connect(options: ConnectOptions & { uri: string }): Promise<Catalog>;
export async function connect(
  given: string | (ConnectOptions & { uri: string }),
  tail: ConnectOptions = {},
): Promise<Catalog> {
  const { uri, ...own } = typeof given === 'object' && given !== null ? given : { uri: given };
  const [root, options]: [string, ConnectOptions] = [uri, { ...own, ...tail }];
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
    await makeRoot(path);
    await makeDefaultNamespace(path, options.log);
    return connected('dir', await implementation.connect({ root: path }, options), { root });
  }
  const config = { root, ...(storageOptions && { storageOptions }) };
  return connected('dir', await implementation.connect(config, options), config);
}

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
