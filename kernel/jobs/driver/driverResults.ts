import { isNonNegativeNumber, isCount, isString, listOf, nullable, shapeFor } from '#shared/shape.ts';
import type { BackfillTrial } from '#shared/jobs/jobPlan.ts';
import { JobError } from '#shared/jobs/jobErrors.ts';
import { runDriver, type DriverRun } from './driverProcess.ts';

/** A plan of the driver. All figures are counted and not estimated. */
export type DriverPlan = {
  readonly readVersion: number;
  readonly totalFragments: number;
  readonly totalRows: number;
  readonly fragments: readonly number[];
  /** Rows of the run, including rows whose results are reused. */
  readonly rows: number;
  /** Includes deleted rows: the number of values written. */
  readonly physicalRows: number;
  readonly reusedRows: number;
  readonly committedFragments: number;
  /** Number of fragments that an earlier run has computed, but not committed. */
  readonly checkpointedFragments: number;
  /** Size of the input columns in these fragments; null if there are too many to measure. */
  readonly inputBytes: number | null;
};

const isPlan = shapeFor<DriverPlan>({
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

const isTrial = shapeFor<BackfillTrial>({
  fragment: isCount,
  rows: isCount,
  seconds: isNonNegativeNumber,
  errors: isCount,
  before: isString,
  after: isString,
});

type Asked = Omit<DriverRun, 'mode' | 'onEvent'> & Partial<Pick<DriverRun, 'onEvent'>>;

const silent = (): void => {};

/** Counts what a run would do; changes nothing. @throws JobError as `runDriver` */
export async function runDriverPlan(asked: Asked): Promise<DriverPlan> {
  const said = await runDriver({ onEvent: silent, ...asked, mode: 'plan' });
  if (isPlan(said)) return said;
  throw new JobError('Internal', 'The Python driver returned an invalid plan.', 'See its output in the log.');
}

/** Computes one fragment without writing it. @throws JobError as `runDriver`, and the failure of the function */
export async function runDriverTrial(asked: Asked): Promise<BackfillTrial> {
  const said = await runDriver({ onEvent: silent, ...asked, mode: 'try' });
  if (!isTrial(said))
    throw new JobError('Internal', 'The Python driver returned an invalid trial.', 'See its output in the log.');
  const { fragment, rows, seconds, errors, before, after } = said;
  return { fragment, rows, seconds, errors, before, after };
}
