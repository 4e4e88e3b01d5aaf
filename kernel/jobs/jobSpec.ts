import type { ComputedFunction } from '#shared/jobs/computedFunction.ts';

/**
 * One backfill as all runners understand it, with everything decided. On the wire and in files it is JSON with the
 * specification's names in snake_case ("BackfillColumnRequest").
 */
export type JobSpec = {
  /** Version of this shape. */
  readonly version: 1;
  readonly jobId: string;
  readonly table: {
    /** Directory or object store address of the Lance dataset. */
    readonly uri: string;
    /** Settings of the object store. They may hold secrets: by a pipe or the environment alone, never in a record. */
    readonly storageOptions: Readonly<Record<string, string>>;
  };
  readonly column: string;
  readonly function: ComputedFunction;
  /** SQL that says which rows; those where the column is null when nothing is said. */
  readonly where: string | undefined;
  /** How many compute at once. */
  readonly concurrency: number;
  /** Rows of a task at most; a fragment is one task where nothing is said. */
  readonly taskSize: number | undefined;
  /** Rows after which what was computed is kept. */
  readonly checkpointSize: number;
  /** Fragments after which what was computed is committed. */
  readonly commitGranularity: number;
  /** Only so many fragments. */
  readonly numFrags: number | undefined;
  /** The version of the table that inputs are read at; the latest where nothing is said. */
  readonly readVersion: number | undefined;
};

/** Whether a job is about all rows without a value, those too that come while it runs. */
export const isOpenEnded = ({ where, numFrags, readVersion }: JobSpec): boolean =>
  where === undefined && numFrags === undefined && readVersion === undefined;
