import type * as lancedb from '@lancedb/lancedb';
import { CatalogError, messageOf } from '#shared/errors.ts';
import { loadPart } from '#shared/loadPart.ts';

type Native = typeof lancedb;

/** The version of the engine package that this product was built with. */
export const engineVersion = '0.39.0';

/**
 * Read by the engine when it scans. It reads this many files ahead of whoever takes the rows, and holds what it read: a
 * reader slower than the disk pays with memory for the number of files a table has (of 50 million rows in 50 files 425 MB,
 * with two of them 155 MB in the same time). Who sets it for himself is left alone.
 */
const filesAhead = 'LANCE_DEFAULT_FRAGMENT_READAHEAD';

/**
 * Read when a thread of the engine is started. Expressions are walked by recursion, and one too deep for the stack ends the
 * process: `sqlLimits.ts` refuses those first, and this is for what it may not know of. With the 2 MB of a thread that is
 * not told otherwise less than 400 levels do, with this more than 800; memory is taken as it is used.
 */
const threadStack = 'RUST_MIN_STACK';

/**
 * Loads the engine: 200 MB of native code, so never before the first use. Later calls get the same module.
 * @throws CatalogError Unsupported (0) where this platform has no engine package or it does not load
 */
export async function loadNative(): Promise<Native> {
  process.env[filesAhead] ??= '2';
  process.env[threadStack] ??= String(16 * 2 ** 20);
  try {
    return await loadPart(() => import('@lancedb/lancedb'));
  } catch (cause) {
    throw new CatalogError(
      'Unsupported',
      `Directories of tables ("dir") can't be used on this platform (${process.platform}-${process.arch}): the engine does not load.`,
      'Servers ("rest") can: connectNamespace("rest", { uri }).',
      { cause },
    );
  }
}

/** Why the engine can't be loaded here, in one line, or `null` when it can. */
export async function engineProblem(): Promise<string | null> {
  try {
    await loadNative();
    return null;
  } catch (error) {
    const cause = error instanceof Error ? error.cause : undefined;
    // The loader lists every place where it looked; the first line says what is wrong.
    const detail = cause === undefined ? '' : ` (${messageOf(cause).split('\n')[0]!.slice(0, 300)})`;
    return messageOf(error) + detail;
  }
}
