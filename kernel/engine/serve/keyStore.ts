import { CatalogError } from '#shared/errors.ts';
import { digestOf, findKey, parseKeys, type ApiKey } from './keys.ts';
import { WatchedFiles } from './watchedFiles.ts';

/** Where the keys of a server come from; `none` means that no key is needed, for a single user on one machine. */
export type KeySource = { kind: 'none' } | { kind: 'key'; key: string } | { kind: 'file'; path: string };

/** The keys that are currently valid. */
export type KeyStore = {
  /** Returns the key that was presented, or `undefined` if it is not valid. */
  find(presented: string): ApiKey | undefined;
  /** Whether the server accepts requests without a key. */
  readonly isOpen: boolean;
  close(): void;
};

/** The key of every client if no key is required. */
const allowAll: ApiKey = {
  name: 'anyone',
  digest: Buffer.alloc(0),
  access: 'read-write',
  databases: '*',
  namespacePath: [],
};

const shortestKey = 16;

/**
 * @throws CatalogError InvalidInput (13) if a key is too short or the file is invalid, PermissionDenied (15) if other
 * users can read the file
 */
export async function openKeyStore(
  source: KeySource,
  log: { changed: (count: number) => void; problem: (error: unknown) => void },
): Promise<KeyStore> {
  if (source.kind === 'none') return { find: () => allowAll, isOpen: true, close: () => undefined };
  if (source.kind === 'key') {
    if (source.key.length < shortestKey) {
      throw new CatalogError(
        'InvalidInput',
        `The API key has fewer than ${shortestKey} characters.`,
        'Create one with: openssl rand -hex 32.',
      );
    }
    const keys: ApiKey[] = [
      { name: 'environment', digest: digestOf(source.key), access: 'read-write', databases: '*', namespacePath: [] },
    ];
    return { find: (presented) => findKey(keys, presented), isOpen: false, close: () => undefined };
  }
  const { path } = source;
  const watched = await WatchedFiles.open({
    paths: [path],
    parse: ([file]) => {
      // Windows has no such permission bits.
      if (process.platform !== 'win32' && file && (file.mode & 0o077) !== 0) {
        throw new CatalogError(
          'PermissionDenied',
          `Other users can access the key file "${path}" (mode ${file.mode.toString(8)}).`,
          `Fix this with: chmod 600 ${path}`,
        );
      }
      return parseKeys(file?.text ?? '');
    },
    onChange: (keys) => log.changed(keys.length),
    onProblem: log.problem,
  });
  return {
    find: (presented) => findKey(watched.value, presented),
    isOpen: false,
    close: () => watched.close(),
  };
}
