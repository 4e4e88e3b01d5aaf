import type { Catalog } from '#catalog/catalog.ts';
import type { Operation } from '#catalog/contract.ts';
import type { BackfillColumnOptions, JobDescription, JobSummary } from '#catalog/jobs.ts';
import type { NamespacePath } from '#shared/names.ts';

/** Which jobs are asked for: those of one catalog, since a server may have several and their keys differ. */
type JobsOf = { readonly catalog: Catalog; readonly signal: AbortSignal };

/**
 * What runs jobs for a server. A directory runs none, so who starts the server brings it, or the routes of jobs answer 406.
 * Every call may reject with a `CatalogError`, which is what the client is told.
 */
export interface ServerJobs {
  /** Begins a job that computes a column ("AlterTableBackfillColumns"). */
  backfill(
    asked: JobsOf & {
      readonly namespacePath: NamespacePath;
      readonly name: string;
      readonly column: string;
      readonly options: Omit<BackfillColumnOptions, 'signal'>;
    },
  ): Promise<{ jobId: string }>;
  /** A page of jobs, newest first. */
  list(asked: JobsOf & { readonly pageToken: string | undefined }): Promise<{ jobs: JobSummary[]; pageToken?: string }>;
  /** @throws CatalogError InvalidInput (13) with the status 404 for a job that is not of this catalog, as all calls below */
  describe(asked: JobsOf & { readonly id: string }): Promise<JobDescription>;
  cancel(asked: JobsOf & { readonly id: string }): Promise<void>;
  /** What has happened so far, as an Arrow IPC stream. */
  events(asked: JobsOf & { readonly id: string }): Promise<Uint8Array>;
}

/** The operations that are jobs' alone. */
export const jobOperations: ReadonlySet<Operation> = new Set<Operation>([
  'AlterTableBackfillColumns',
  'ListJobs',
  'DescribeJob',
  'CancelJob',
  'QueryJobEvents',
]);
