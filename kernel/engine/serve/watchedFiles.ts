import { open, stat } from 'node:fs/promises';
import { fileProblem } from '#processes/fileProblem.ts';
import { CatalogError } from '#shared/errors.ts';

type WatchedFile = { readonly text: string; /** Permission bits. */ readonly mode: number };

type WatchOptions<T> = {
  paths: readonly string[];
  /** Computes the value from the files, in the order of the paths. If it throws, the previous value is kept. */
  parse: (files: readonly WatchedFile[]) => T;
  onChange?: ((value: T) => void) | undefined;
  /** Called for a changed file that can't be used, once per change. */
  onProblem: (error: unknown) => void;
  /** Milliseconds between two checks (default: 1000). */
  interval?: number;
};

/**
 * A value computed from files. It is computed again when a file changes. Checks the paths at intervals, because this
 * also detects files that are replaced by renaming, and the links of mounted secrets.
 */
export class WatchedFiles<T> {
  readonly #options: WatchOptions<T>;
  readonly #timer: NodeJS.Timeout;
  #value: T;
  #seen: string;
  #told = '';
  #looking = false;

  private constructor(options: WatchOptions<T>, value: T, seen: string) {
    this.#options = options;
    this.#value = value;
    this.#seen = seen;
    this.#timer = setInterval(() => void this.#look(), options.interval ?? 1000);
    this.#timer.unref();
  }

  /**
   * Reads the files for the first time. @throws what `parse` throws, CatalogError InvalidInput (13) for an unreadable
   * file
   */
  static async open<T>(options: WatchOptions<T>): Promise<WatchedFiles<T>> {
    // The mark is read before the files, so that the next check detects a change in between.
    const seen = await markOf(options.paths);
    const files = await Promise.all(options.paths.map(read));
    return new WatchedFiles(options, options.parse(files), seen);
  }

  get value(): T {
    return this.#value;
  }

  close(): void {
    clearInterval(this.#timer);
  }

  async #look(): Promise<void> {
    if (this.#looking) return;
    this.#looking = true;
    try {
      const mark = await markOf(this.#options.paths);
      if (mark === this.#seen) return;
      try {
        const files = await Promise.all(this.#options.paths.map(read));
        this.#value = this.#options.parse(files);
        this.#seen = mark;
        this.#told = '';
        this.#options.onChange?.(this.#value);
      } catch (error) {
        // Two files that belong together change one after the other. So after a problem the files are read again at
        // every check, but the problem is reported only once per change.
        if (this.#told !== mark) this.#options.onProblem(error);
        this.#told = mark;
      }
    } finally {
      this.#looking = false;
    }
  }
}

/** Returns a string that changes whenever a file does. */
async function markOf(paths: readonly string[]): Promise<string> {
  const marks = paths.map(async (path) => {
    try {
      const { dev, ino, size, mtimeNs, ctimeNs } = await stat(path, { bigint: true });
      return [dev, ino, size, mtimeNs, ctimeNs].join(':');
    } catch {
      return 'missing';
    }
  });
  return (await Promise.all(marks)).join(' ');
}

async function read(path: string): Promise<WatchedFile> {
  try {
    const file = await open(path, 'r');
    try {
      // The mode is read from the opened file, so that the checked file is the one that is read.
      const { mode } = await file.stat();
      return { text: await file.readFile('utf8'), mode: mode & 0o777 };
    } finally {
      await file.close();
    }
  } catch (cause) {
    throw new CatalogError(
      'InvalidInput',
      `Can't read the file "${path}": ${fileProblem(cause)}.`,
      'Correct the path.',
      {
        cause,
      },
    );
  }
}
