import { stat } from 'node:fs/promises';
import type { JobSpec } from '#jobs/jobSpec.ts';
import type { BackfillRequest } from '#shared/jobs/backfill.ts';
import { openBucket } from './bucketStore.ts';
import { FolderStore } from './folderStore.ts';
import type { CheckpointStore } from './store.ts';

/** The store of a job's checkpoints. The caller closes it. */
type OpenStore = Disposable &
  (
    | { readonly isBesideTable: true; readonly store: CheckpointStore }
    /** The checkpoints are then stored on this machine. `reason` says why, in a sentence. */
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
  const bucket = await openBucket(spec.uri, spec.storageOptions);
  return typeof bucket === 'string' ? elsewhere(bucket) : { isBesideTable: true, ...bucket };
}

const elsewhere = (reason: string): OpenStore => ({
  isBesideTable: false,
  reason,
  [Symbol.dispose]: () => undefined,
});
