import { CatalogError } from '#shared/errors.ts';
import { digestOf, findKey, parseKeys, type ApiKey } from './keys.ts';
import { WatchedFiles } from './watchedFiles.ts';

/** Where a server's keys come from. `none` is for one person on one machine. */
export type KeySource = { kind: 'none' } | { kind: 'key'; key: string } | { kind: 'file'; path: string };

/** Who may ask, as of now. */
export type KeyRing = {
  /** The key that was presented; `undefined` when it is none of these. */
  find(presented: string): ApiKey | undefined;
  /** True where nobody needs a key. */
  readonly isOpen: boolean;
  close(): void;
};

/** What everybody is where no key is needed. */
const anyone: ApiKey = { name: 'anyone', digest: Buffer.alloc(0), access: 'read-write', databases: '*' };

const shortestKey = 16;

/** @throws CatalogError InvalidInput (13) for a key that is too short or a file that is wrong or open to others */
export async function openKeyRing(
  source: KeySource,
  log: { changed: (count: number) => void; problem: (error: unknown) => void },
): Promise<KeyRing> {
  if (source.kind === 'none') return { find: () => anyone, isOpen: true, close: () => undefined };
  if (source.kind === 'key') {
    if (source.key.length < shortestKey) {
      throw new CatalogError(
        'InvalidInput',
        `The API key has under ${shortestKey} characters.`,
        'Make one with: openssl rand -hex 32.',
      );
    }
    const keys: ApiKey[] = [
      { name: 'environment', digest: digestOf(source.key), access: 'read-write', databases: '*' },
    ];
    return { find: (presented) => findKey(keys, presented), isOpen: false, close: () => undefined };
  }
  const { path } = source;
  const watched = await WatchedFiles.open({
    paths: [path],
    parse: ([file]) => {
      // Windows has no such bits.
      if (process.platform !== 'win32' && file && (file.mode & 0o077) !== 0) {
        throw new CatalogError(
          'PermissionDenied',
          `The file of keys "${path}" is open to others (mode ${file.mode.toString(8)}).`,
          `Close it with: chmod 600 ${path}`,
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
