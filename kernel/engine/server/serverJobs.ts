import type { Operation } from '#catalog/contract.ts';
import type { BackfillColumnOptions, JobDescription, JobSummary } from '#catalog/jobs.ts';
import type { NamespacePath } from '#shared/names.ts';
import type { ServedCatalog } from './servedCatalog.ts';

/** The directory of the jobs, and the namespace in it that is the root for the client. */
export type JobScope = Pick<ServedCatalog, 'location' | 'namespacePath'>;

/** The catalog of the jobs. Needed because a server may have several catalogs with different keys. */
type JobsOf = { readonly catalog: JobScope; readonly signal: AbortSignal };

/**
 * Runs jobs for a server. A directory runs no jobs, so the program that starts the server provides this object; without
 * it the job routes respond with 406. Calls may reject with a `CatalogError`, which is sent to the client.
 */
export interface ServerJobs {
  /** Starts a job that computes a column ("AlterTableBackfillColumns"). */
  backfill(
    asked: JobsOf & {
      /** The namespace of the table, below that of `catalog`. */
      readonly namespacePath: NamespacePath;
      readonly name: string;
      readonly column: string;
      readonly options: Omit<BackfillColumnOptions, 'signal'>;
    },
  ): Promise<{ jobId: string }>;
  /** Returns a page of jobs, newest first. */
  list(asked: JobsOf & { readonly pageToken: string | undefined }): Promise<{ jobs: JobSummary[]; pageToken?: string }>;
  /**
   * @throws CatalogError InvalidInput (13) with status 404 if the job is not of this catalog. The methods below do the
   * same
   */
  describe(asked: JobsOf & { readonly id: string }): Promise<JobDescription>;
  cancel(asked: JobsOf & { readonly id: string }): Promise<void>;
  /** Returns the events so far as an Arrow IPC stream. */
  events(asked: JobsOf & { readonly id: string }): Promise<Uint8Array>;
}

/** Maximum number of jobs that a server runs at the same time. Each job needs about half a gigabyte of memory. */
export const defaultMaxJobs = 4;

/** Operations that are supported only with jobs. */
export const jobOperations: ReadonlySet<Operation> = new Set<Operation>([
  'AlterTableBackfillColumns',
  'ListJobs',
  'DescribeJob',
  'CancelJob',
  'QueryJobEvents',
]);
