import type { RowError } from '#shared/jobs/jobEvents.ts';
import type { JobOutputAction } from '#shared/jobs/jobOutput.ts';
import type { JobView } from '#shared/jobs/jobView.ts';
import { isActive, jobTableText, rowsText, runnerWords } from '#shared/jobs/jobWords.ts';
import { Actions, actionsOf, type Act } from '../parts/jobActions.tsx';
import { Progress } from '../parts/jobProgress.tsx';

/** Rows that failed, as many as say what is wrong; the page of the job has the others. */
const maxSamples = 3;

type JobOutputProps = {
  readonly job: JobView;
  /** What a button does; not there where nobody listens, in an exported notebook for instance. */
  readonly act: Act<JobOutputAction> | undefined;
};

/** A job in the output of the cell that began it: how far it is, what is in its way, and what can be done. */
export function JobOutputView({ job, act }: JobOutputProps) {
  const { column, table, failure, bottleneck, errors } = job;
  return (
    <section className="job-output" aria-label={`Backfill of ${column}`}>
      <h4>
        {jobTableText(table)}.{column}
      </h4>
      <Progress job={job} />
      {failure ? (
        <div className="job-note job-failure">
          {failure.message}
          {failure.hint !== '' && !failure.message.includes(failure.hint) && ` ${failure.hint}`}
        </div>
      ) : (
        <p>{job.sentence}</p>
      )}
      {bottleneck !== undefined && isActive(job) && (
        <p className="job-note job-warning">
          <strong>What holds it up: </strong>
          {bottleneck}
        </p>
      )}
      {errors.count > 0 && <FailedRows count={errors.count} samples={errors.samples} />}
      {act && <Actions actions={[...likeliest(job), { action: 'open', label: 'Show Job' }]} act={act} />}
      <p className="job-quiet">
        {runnerWords[job.runner]} · {job.id}
      </p>
    </section>
  );
}

/** The cell above is the code. */
const likeliest = (job: JobView) => actionsOf(job).filter(({ action }) => action !== 'code');

function FailedRows({ count, samples }: { count: number; samples: readonly RowError[] }) {
  return (
    <>
      <p>{rowsText(count)} failed, for instance:</p>
      <ul className="job-failed-rows">
        {samples.slice(0, maxSamples).map(({ fragment, row, message }) => (
          <li key={`${fragment} ${row}`}>
            row {row} of fragment {fragment}: {message}
          </li>
        ))}
      </ul>
    </>
  );
}
