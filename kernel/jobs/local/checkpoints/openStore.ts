import { stat } from 'node:fs/promises';
import type { BackfillRequest } from '#shared/jobs/backfill.ts';
import { readBucketSettings } from '#cluster/aws/bucketSettings.ts';
import type { JobSpec } from '#jobs/jobSpec.ts';
import { loadPart } from '#shared/loadPart.ts';
import { BucketStore } from './bucketStore.ts';
import { FolderStore } from './folderStore.ts';
import type { CheckpointStore } from './store.ts';

/** Where a job keeps what it computes. Whoever opens it closes it. */
export type OpenStore = Disposable &
  (
    | { readonly isBesideTable: true; readonly store: CheckpointStore }
    /** In a folder of this machine, and in a sentence why. */
    | { readonly isBesideTable: false; readonly reason: string }
  );

/**
 * Opens the place beside a table where all runners keep checkpoints: on a disk of this machine, or in a bucket of S3. Nothing is
 * asked of either yet but whether the folder is there.
 */
export async function openBesideTable(table: BackfillRequest['table'], spec: JobSpec['table']): Promise<OpenStore> {
  if (table.catalog.implementation !== 'dir' || spec.uri === '')
    return elsewhere('The files of the table are behind its server.');
  const [, scheme] = /^([a-z][a-z\d+.-]+):\/\//i.exec(spec.uri) ?? [];
  if (scheme === undefined) {
    const found = await stat(spec.uri).catch(() => undefined);
    if (!found?.isDirectory()) return elsewhere('The files of the table are not on a disk of this machine.');
    return { isBesideTable: true, store: new FolderStore(spec.uri), [Symbol.dispose]: () => undefined };
  }
  if (!/^s3a?$/i.test(scheme))
    return elsewhere(`The runner "local" reaches the files of tables at ${scheme}:// through the engine alone.`);
  const settings = readBucketSettings(spec.uri, spec.storageOptions, process.env);
  if (typeof settings === 'string') return elsewhere(settings);
  const { BucketFiles } = await loadPart(() => import('#cluster/clouds.ts'));
  const files = new BucketFiles(settings);
  const store = new BucketStore(files, settings.prefix);
  return { isBesideTable: true, store, [Symbol.dispose]: () => files.close() };
}

const elsewhere = (reason: string): OpenStore => ({
  isBesideTable: false,
  reason,
  [Symbol.dispose]: () => undefined,
});
