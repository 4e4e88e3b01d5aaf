import { setTimeout as sleep } from 'node:timers/promises';
import type { BucketFiles } from '#cluster/aws/bucketFiles.ts';
import { readBucketSettings } from '#cluster/aws/bucketSettings.ts';
import { isClusterError } from '#cluster/errors.ts';
import type { TableFiles } from '#engine/dir/files/storeFiles.ts';
import { JobError } from '#shared/jobs/jobErrors.ts';
import { loadLazy } from '#shared/loadLazy.ts';
import type { CheckpointStore } from './store.ts';

/** Number of files to remove at once. */
const removedAtOnce = 16;
/** Milliseconds in which a Python driver, without conditional writes, may overwrite a file that it did not find. */
const settling = 600;

/** Stores files in S3 or a compatible store. */
class BucketStore implements CheckpointStore {
  readonly #files: BucketFiles;
  readonly #root: string;

  /** @param root key of the table */
  constructor(files: BucketFiles, root: string) {
    this.#files = files;
    this.#root = root;
  }

  placeOf(path: string): string {
    return this.#files.uri(this.#key(path));
  }

  async read(path: string, signal?: AbortSignal): Promise<Uint8Array | undefined> {
    return told(() => this.#files.get(this.#key(path), signal), signal);
  }

  async write(path: string, bytes: Uint8Array): Promise<void> {
    await told(() => this.#files.put(this.#key(path), bytes));
  }

  /**
   * Creates a file and reads it back: if two writers find no file, the last writer wins, unless both use conditional
   * writes.
   */
  async create(path: string, bytes: Uint8Array): Promise<boolean> {
    if (!(await told(() => this.#files.create(this.#key(path), bytes)))) return false;
    await sleep(settling);
    const there = await this.read(path);
    return there !== undefined && Buffer.compare(there, bytes) === 0;
  }

  async list(folder: string, signal?: AbortSignal): Promise<readonly string[]> {
    return told(() => this.#files.list(this.#key(folder), signal), signal);
  }

  async remove(path: string): Promise<void> {
    // An error is ignored: the next run checks remaining files again, and a lease becomes stale after a minute.
    await this.#files.remove(this.#key(path)).catch(() => undefined);
  }

  async removeFolder(folder: string): Promise<void> {
    const names = await this.#files.list(this.#key(folder)).catch(() => []);
    for (let from = 0; from < names.length; from += removedAtOnce)
      await Promise.all(names.slice(from, from + removedAtOnce).map((name) => this.remove(`${folder}/${name}`)));
  }

  reasonOf(failure: unknown): unknown {
    // The failure is returned unchanged: a bucket has no folders, and the engine reports missing files of the table.
    return failure;
  }

  #key(path: string): string {
    return this.#root === '' ? path : `${this.#root}/${path}`;
  }
}

async function told<T>(call: () => Promise<T>, signal?: AbortSignal): Promise<T> {
  try {
    return await call();
  } catch (error) {
    if (!isClusterError(error)) throw error;
    signal?.throwIfAborted();
    const hint = `${error.hint} Finished rows are kept: resume the job then.`.trimStart();
    throw new JobError('StorageFailed', error.what, hint, { cause: error });
  }
}

type OpenBucket = Disposable & { readonly store: CheckpointStore };

/** Opens the store beside a table in an S3 bucket, or returns why it can't be opened. */
export async function openBucket(
  uri: string,
  storageOptions: Readonly<Record<string, string>>,
): Promise<OpenBucket | string> {
  const settings = readBucketSettings(uri, storageOptions, process.env);
  if (typeof settings === 'string') return settings;
  const { BucketFiles } = await loadLazy(() => import('#cluster/entry.ts'));
  const files = new BucketFiles(settings);
  return { store: new BucketStore(files, settings.prefix), [Symbol.dispose]: () => files.close() };
}

/** Opens the files beside a table in an S3 bucket for `registerStoreFiles`; `undefined` for another store. */
export async function openStoreFiles(
  uri: string,
  storageOptions: Readonly<Record<string, string>>,
): Promise<(TableFiles & Disposable) | undefined> {
  const bucket = /^s3a?:\/\//i.test(uri) ? await openBucket(uri, storageOptions) : undefined;
  if (bucket === undefined || typeof bucket === 'string') return undefined;
  const { store } = bucket;
  return {
    list: (folder, signal) => store.list(folder, signal),
    read: (path, signal) => store.read(path, signal),
    [Symbol.dispose]: () => bucket[Symbol.dispose](),
  };
}
