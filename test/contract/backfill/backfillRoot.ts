import { join } from 'node:path';
import type { Catalog } from '#catalog/catalog.ts';
import { connectNamespace } from '#catalog/connect.ts';
import { registerDir } from '#engine/register.ts';
import type { CatalogConfig } from '#shared/catalogConfig.ts';
import { tempFolder } from '../../harness/temp.ts';
import { type Moto, startMoto } from '../moto.ts';
import type { LocalJob } from './local/localJobs.ts';

/** The location of the tables of a suite, and the jobs on them. */
export type BackfillRoot = {
  readonly root: string;
  readonly catalog: CatalogConfig;
  readonly db: Catalog;
  readonly jobOf: (table: string, job: Pick<LocalJob, 'function'> & Partial<LocalJob>) => LocalJob;
};

/** Creates tables in a folder. Call it within a suite, which closes them at its end. */
export function folderRoot(): BackfillRoot {
  const root = tempFolder();
  return opened(() => ({ root }));
}

/** Creates tables in a bucket, and starts its S3 server. Call it within a suite, which stops both at its end. */
export function bucketRoot(checks: 'strict' | 'lenient' = 'lenient'): BackfillRoot & { readonly moto: Moto } {
  let moto: Moto | undefined;
  suiteSetup(async () => {
    moto = await startMoto(checks);
  });
  const root = opened(() => ({ root: moto!.root('backfills'), storageOptions: { ...moto!.storageOptions } }));
  suiteTeardown(() => moto?.stop());
  return Object.defineProperty(root, 'moto', { get: () => moto }) as BackfillRoot & { readonly moto: Moto };
}

function opened(
  place: () => { readonly root: string; readonly storageOptions?: Record<string, string> },
): BackfillRoot {
  let db: Catalog | undefined;
  suiteSetup(async () => {
    registerDir();
    db = await connectNamespace('dir', place());
  });
  suiteTeardown(() => db?.close());
  const catalogOf = (): CatalogConfig => ({ implementation: 'dir', ...place() });
  return {
    get root() {
      return place().root;
    },
    get catalog() {
      return catalogOf();
    },
    get db() {
      return db!;
    },
    jobOf: (table, job) => {
      const { root } = place();
      const uri = root.includes('://') ? `${root}/${table}.lance` : join(root, `${table}.lance`);
      return { catalog: catalogOf(), table, uri, ...job };
    },
  };
}
