import type { CatalogConfig, DirConfig, RestConfig } from '#shared/catalogConfig.ts';
import { CatalogError } from '#shared/errors.ts';
import type { Catalog } from './catalog.ts';
import { checkOptions } from '#catalog/arguments/options.ts';
import { connectedBy } from './tableReference.ts';
import { checkAddress, localRoot, makeDefaultNamespace, makeRoot } from './root.ts';

export type { DirConfig, RestConfig } from '#shared/catalogConfig.ts';

/** What both ways of connecting take. */
export type ConnectOptions = {
  /** Cancels the connecting. */
  signal?: AbortSignal | undefined;
  /** Where things go that are worth a line and are no error. Nowhere when not given. */
  log?: ((line: string) => void) | undefined;
  /** What to do about a key that a server refuses, where who connects knows. */
  keyHint?: string | undefined;
};

/** A catalog implementation: which configuration keys it knows and how it connects. */
type Implementation<C> = {
  readonly keys: readonly (keyof C & string)[];
  /** Beginnings of keys whose ends are up to the person: `headers.`. */
  readonly keyPrefixes?: readonly string[];
  connect(config: C, options: ConnectOptions): Promise<Catalog>;
};

/** The configuration of each implementation by its name. */
export type Implementations = { dir: DirConfig; rest: RestConfig };

const registry: { [N in keyof Implementations]?: Implementation<Implementations[N]> } = {};

const connectOptions = ['signal', 'log', 'keyHint'] as const satisfies (keyof ConnectOptions)[];

/**
 * Adds an implementation to what `connect` and `connectNamespace` can reach. This module never loads one itself: `dir`
 * is 200 MB of native code in a kernel and a child process in an editor, and who starts the process knows which.
 */
export function registerImplementation<N extends keyof Implementations>(
  name: N,
  implementation: Implementation<Implementations[N]>,
): void {
  Object.assign(registry, { [name]: implementation });
}

/**
 * Connects to the catalog in a directory: `connect('./data')`. Makes a missing last folder (its parent must exist) and
 * the default namespace directory `data/` under it; an address of an object store is taken as it is.
 * @throws CatalogError InvalidInput (13) naming the path, PermissionDenied (15), Unsupported (0) without the engine
 */
export async function connect(root: string, options: ConnectOptions = {}): Promise<Catalog> {
  checkOptions('connect', options, connectOptions);
  if (typeof root !== 'string' || root === '') {
    throw new CatalogError('InvalidInput', 'connect needs a directory.', 'Write for instance connect("./data").');
  }
  const implementation = implementationOf('dir');
  options.signal?.throwIfAborted();
  if (!checkAddress(root)) {
    const path = localRoot(root);
    await makeRoot(path);
    await makeDefaultNamespace(path, options.log);
    return connected('dir', await implementation.connect({ root: path }, options), { root });
  }
  return connected('dir', await implementation.connect({ root }, options), { root });
}

/**
 * Connects to a catalog by the name of its implementation: `connectNamespace('dir', { root })` or
 * `connectNamespace('rest', { uri, headers })`. Makes no directory.
 * @throws CatalogError InvalidInput (13) for a bad configuration, Unsupported (0) for an implementation that is not here
 */
export async function connectNamespace<N extends keyof Implementations>(
  implementation: N,
  config: Implementations[N],
  options: ConnectOptions = {},
): Promise<Catalog> {
  const call = `connectNamespace("${implementation}")`;
  const found = implementationOf(implementation);
  checkOptions(call, options, connectOptions);
  checkOptions(call, config, found.keys, found.keyPrefixes);
  if (config === undefined)
    throw new CatalogError('InvalidInput', `${call} has no configuration.`, 'Give its root or uri.');
  options.signal?.throwIfAborted();
  return connected(implementation, await found.connect(config, options), config, options.keyHint);
}

/** Keeps how a catalog was connected, for jobs; a directory by its whole path, since their processes are elsewhere. */
function connected<N extends keyof Implementations>(
  implementation: N,
  catalog: Catalog,
  config: Implementations[N],
  keyHint?: string,
): Catalog {
  const at = implementation === 'dir' ? { root: catalog.location } : keyHint !== undefined && { keyHint };
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a configuration of that implementation, by its type
  return connectedBy(catalog, { implementation, ...config, ...at } as CatalogConfig);
}

function implementationOf<N extends keyof Implementations>(name: N): Implementation<Implementations[N]> {
  const found = Object.hasOwn(registry, name) ? registry[name] : undefined;
  if (found) return found;
  throw notRegistered(name);
}

/** The error for an implementation that is not registered in this process; it names those that are. */
export function notRegistered(name: string): CatalogError {
  const there = Object.keys(registry).map((known) => `"${known}"`);
  return new CatalogError(
    'Unsupported',
    `There is no catalog implementation "${name}" here.`,
    there.length > 0 ? `Use one of ${there.join(', ')}.` : 'No implementation is registered in this process.',
  );
}
