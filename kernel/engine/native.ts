import type * as lancedb from '@lancedb/lancedb';
import { CatalogError, messageOf } from '#shared/errors.ts';
import { loadLazy } from '#shared/loadLazy.ts';

type Native = typeof lancedb;

/** The version of the engine package that this product is built with. */
export const engineVersion = '0.39.0';

/**
 * Environment variable with the number of files that a scan reads ahead and holds in memory. If the reader is slower
 * than the disk, memory grows with the number of files. A scan of 50 million rows in 50 files needs 425 MB without this
 * limit and 155 MB with a read-ahead of two files, in the same time. A value that the user sets is kept.
 */
const filesAhead = 'LANCE_DEFAULT_FRAGMENT_READAHEAD';

/**
 * Environment variable with the stack size of engine threads. The engine walks expressions recursively, and an
 * expression that is too deep for the stack ends the process. `checkSql.ts` refuses such expressions; a larger stack
 * covers the cases that `checkSql.ts` misses. The default stack of 2 MB is enough for fewer than 400 levels, a stack of
 * 16 MB for more than 800. Memory of a stack is allocated only as needed.
 */
const threadStack = 'RUST_MIN_STACK';

/** Kept, because in a bundle each `import()` of a package copies all its exports: a twentieth of a page's processor time. */
let loaded: Native | undefined;

/**
 * Loads the engine. It has 200 MB of native code, so it is loaded only at first use. Later calls return the same
 * module.
 * @throws CatalogError Unsupported (0) if this platform has no engine package or the package does not load
 */
export async function loadNative(): Promise<Native> {
  if (loaded) return loaded;
  process.env[filesAhead] ??= '2';
  process.env[threadStack] ??= String(16 * 2 ** 20);
  try {
    return (loaded = await loadLazy(() => import('@lancedb/lancedb')));
  } catch (cause) {
    throw new CatalogError(
      'Unsupported',
      `Directories of tables ("dir") can't be used on this platform (${process.platform}-${process.arch}): the engine does not load.`,
      'Use a server ("rest") instead: connectNamespace("rest", { uri }).',
      { cause },
    );
  }
}

/** Returns why the engine can't be loaded here, in one line, or `null` if it can. */
export async function engineProblem(): Promise<string | null> {
  try {
    await loadNative();
    return null;
  } catch (error) {
    const cause = error instanceof Error ? error.cause : undefined;
    // The loader lists every path it tried; only the first line names the problem.
    const detail = cause === undefined ? '' : ` (${messageOf(cause).split('\n')[0]!.slice(0, 300)})`;
    return messageOf(error) + detail;
  }
}
