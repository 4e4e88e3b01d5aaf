import { isAmount, isCount, isText, listOf, nullable, shapeOf } from '#shared/jobs/jobShapes.ts';
import type { BackfillTrial } from '#shared/jobs/jobPlan.ts';
import { JobError } from '#shared/jobs/jobErrors.ts';
import { runDriver, type DriverRun } from './driverProcess.ts';

/** What the driver found out for a plan; everything in it is counted. */
export type DriverPlan = {
  readonly readVersion: number;
  readonly totalFragments: number;
  readonly totalRows: number;
  /** Numbers of the fragments with something to compute. */
  readonly fragments: readonly number[];
  /** Rows to compute in those, reused ones among them. */
  readonly rows: number;
  /** Rows of those fragments, deleted ones too: so many values are written. */
  readonly physicalRows: number;
  readonly reusedRows: number;
  readonly committedFragments: number;
  /** Finished by an earlier run, and only to be committed. */
  readonly checkpointedFragments: number;
  /** Of the input columns in the files of those fragments; null where there are too many to count. */
  readonly inputBytes: number | null;
};

const isPlan = shapeOf<DriverPlan>({
  readVersion: isCount,
  totalFragments: isCount,
  totalRows: isCount,
  fragments: listOf(isCount),
  rows: isCount,
  physicalRows: isCount,
  reusedRows: isCount,
  committedFragments: isCount,
  checkpointedFragments: isCount,
  inputBytes: nullable(isCount),
});

const isTrial = shapeOf<BackfillTrial>({
  fragment: isCount,
  rows: isCount,
  seconds: isAmount,
  errors: isCount,
  before: isText,
  after: isText,
});

/** Which parts of a run only a run has. */
type Asked = Omit<DriverRun, 'mode' | 'onEvent'> & Partial<Pick<DriverRun, 'onEvent'>>;

const silent = (): void => {};

/** What a run would do, counted by the driver; changes nothing. @throws JobError as `runDriver` */
export async function askPlan(asked: Asked): Promise<DriverPlan> {
  const said = await runDriver({ onEvent: silent, ...asked, mode: 'plan' });
  if (isPlan(said)) return said as DriverPlan;
  throw new JobError('Internal', 'The Python driver gave a plan of another form.', 'The log has what it said.');
}

/** Computes one fragment and writes it nowhere. @throws JobError as `runDriver`, and what the function failed with */
export async function askTrial(asked: Asked): Promise<BackfillTrial> {
  const said = await runDriver({ onEvent: silent, ...asked, mode: 'try' });
  if (!isTrial(said))
    throw new JobError('Internal', 'The Python driver gave a trial of another form.', 'The log has what it said.');
  const { fragment, rows, seconds, errors, before, after } = said as BackfillTrial;
  return { fragment, rows, seconds, errors, before, after };
}
