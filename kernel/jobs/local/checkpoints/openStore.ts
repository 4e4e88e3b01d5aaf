import { stat } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import type { BucketFiles } from '#cluster/aws/bucketFiles.ts';
import { readBucketSettings } from '#cluster/aws/bucketSettings.ts';
import { isClusterError } from '#cluster/errors.ts';
import type { JobSpec } from '#jobs/jobSpec.ts';
import type { BackfillRequest } from '#shared/jobs/backfill.ts';
import { JobError } from '#shared/jobs/jobErrors.ts';
import { loadLazy } from '#shared/loadLazy.ts';
import { FolderStore } from './folderStore.ts';
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

  /** Reads the file back: if two writers find no file, the last one wins, unless both use conditional writes. */
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

/** The store of a job's checkpoints. The caller closes it. */
type OpenStore = Disposable &
  (
    | { readonly isBesideTable: true; readonly store: CheckpointStore }
    /** Stored on this machine; `reason` is a sentence. */
    | { readonly isBesideTable: false; readonly reason: string }
  );

/** Opens the store beside a table, on a disk of this machine or in an S3 bucket. Does not contact the bucket yet. */
export async function openBesideTable(table: BackfillRequest['table'], spec: JobSpec['table']): Promise<OpenStore> {
  if (table.catalog.implementation !== 'dir' || spec.uri === '')
    return elsewhere('The files of the table are only available through its server.');
  const [, scheme] = /^([a-z][a-z\d+.-]+):\/\//i.exec(spec.uri) ?? [];
  if (scheme === undefined) {
    const found = await stat(spec.uri).catch(() => undefined);
    if (!found?.isDirectory()) return elsewhere('The files of the table are not on a disk of this machine.');
    return { isBesideTable: true, store: new FolderStore(spec.uri), [Symbol.dispose]: () => undefined };
  }
  if (!/^s3a?$/i.test(scheme))
    return elsewhere(`The runner "local" can access tables at ${scheme}:// only through the engine.`);
  const settings = readBucketSettings(spec.uri, spec.storageOptions, process.env);
  if (typeof settings === 'string') return elsewhere(settings);
  const { BucketFiles } = await loadLazy(() => import('#cluster/entry.ts'));
  const files = new BucketFiles(settings);
  const store = new BucketStore(files, settings.prefix);
  return { isBesideTable: true, store, [Symbol.dispose]: () => files.close() };
}

const elsewhere = (reason: string): OpenStore => ({
  isBesideTable: false,
  reason,
  [Symbol.dispose]: () => undefined,
});
