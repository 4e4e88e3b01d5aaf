import { agoText } from '#shared/ageText.ts';
import { countText } from '#shared/formatNumber.ts';
import type { JobAction } from '#shared/jobs/jobPageMessages.ts';
import type { JobView } from '#shared/jobs/jobView.ts';
import {
  durationText,
  isActive,
  jobTableText,
  percentText,
  rateText,
  rowsText,
  runnerWords,
  shareDone,
  sizeText,
  stateWords,
} from '#shared/jobs/jobWords.ts';
import { ErrorRows } from './errorRows.tsx';
import { LogLines } from './logLines.tsx';
import { Actions, type Act } from './actions.tsx';

type JobPageProps = {
  readonly job: JobView;
  readonly log: readonly string[];
  readonly isCut: boolean;
  readonly now: number;
  readonly act: Act;
};

export function JobPage({ job, log, isCut, now, act }: JobPageProps) {
  const { column, table, functionName, failure, bottleneck, errors } = job;
  return (
    <main className="job">
      <header>
        <h1>
          {column} <span className="job-of">of {jobTableText(table)}</span>
        </h1>
        <p className="job-quiet">
          {functionName} · on {runnerWords[job.runner]} · {table.catalog} · {job.id}
        </p>
      </header>
      <Progress job={job} />
      {failure ? (
        <div className="job-note job-failure" role="alert">
          <p>{failure.message}</p>
          {failure.hint !== '' && !failure.message.includes(failure.hint) && <p>{failure.hint}</p>}
        </div>
      ) : (
        <p className="job-sentence">{job.sentence}</p>
      )}
      {bottleneck !== undefined && isActive(job) && (
        <p className="job-note job-warning">
          <strong>What holds it up: </strong>
          {bottleneck}
        </p>
      )}
      <Actions actions={actionsOf(job)} act={act} />
      <Facts job={job} now={now} />
      {errors.count > 0 && <ErrorRows errors={errors} />}
      <LogLines lines={log} isCut={isCut} isActive={isActive(job)} />
    </main>
  );
}

/** State, bar and percentage. What a screen reader says is the value of the bar. */
function Progress({ job }: { job: JobView }) {
  const share = shareDone(job);
  const percent = share === undefined ? undefined : Math.floor(share * 100);
  const said = `${stateWords[job.state]}${share === undefined ? '' : `, ${percentText(share)}`}`;
  return (
    <section className={`job-progress job-${job.state}`} aria-label="Progress">
      <div
        className={percent === undefined && isActive(job) ? 'job-bar job-unknown' : 'job-bar'}
        role="progressbar"
        aria-label={`Backfill of ${job.column}`}
        aria-valuemin={0}
        aria-valuemax={100}
        {...(percent !== undefined && { 'aria-valuenow': percent })}
        aria-valuetext={said}
      >
        <div className="job-bar-done" style={{ width: `${percent ?? 0}%` }} />
      </div>
      <p className="job-state">
        <strong>{stateWords[job.state]}</strong>
        {share !== undefined && job.state !== 'succeeded' && <span>{percentText(share)}</span>}
        {isActive(job) && job.rowsPerSecond !== undefined && <span>{rateText(job.rowsPerSecond)}</span>}
        {isActive(job) && job.secondsLeft !== undefined && <span>{durationText(job.secondsLeft)} left</span>}
      </p>
    </section>
  );
}

function Facts({ job, now }: { job: JobView; now: number }) {
  return (
    <dl className="job-facts">
      {factsOf(job, now).map(([label, text]) => (
        <div key={label}>
          <dt>{label}</dt>
          <dd>{text}</dd>
        </div>
      ))}
    </dl>
  );
}

const ofAll = (done: number, total: number | undefined): string =>
  total === undefined ? countText(done) : `${countText(done)} of ${countText(total)}`;

function factsOf(job: JobView, now: number): readonly (readonly [string, string])[] {
  const { rows, fragments, errors, skipped, conflicts, bytesWritten, version, startedAt, endedAt, createdAt } = job;
  const seconds = startedAt === undefined ? undefined : ((endedAt ?? now) - startedAt) / 1000;
  return [
    ['Rows', ofAll(rows.done, rows.total)],
    ...(rows.reused > 0 ? [['Kept from an earlier run', rowsText(rows.reused)] as const] : []),
    ['Fragments', ofAll(fragments.done, fragments.total)],
    ...(errors.count > 0 ? [['Failed', rowsText(errors.count)] as const] : []),
    ...(skipped > 0 ? [['Left for the next run', rowsText(skipped)] as const] : []),
    ...(conflicts > 0 ? [['Conflicts with other writers', countText(conflicts)] as const] : []),
    ...(bytesWritten > 0 ? [['Written', sizeText(bytesWritten)] as const] : []),
    ...(version === undefined ? [] : [['Version of the table', countText(version)] as const]),
    ['Begun', agoText(createdAt, now)],
    ...(seconds === undefined ? [] : [[isActive(job) ? 'Runs for' : 'Took', durationText(seconds)] as const]),
    ...(job.options.where === undefined ? [] : [['Rows where', job.options.where] as const]),
  ];
}

/** What can be done, the likeliest first. A button that would do nothing is not there. */
function actionsOf({ can, state }: JobView): { action: JobAction; label: string }[] {
  return [
    ...(can.resume ? [{ action: 'resume' as const, label: 'Resume' }] : []),
    ...(can.retry ? [{ action: 'retry' as const, label: 'Retry Failed Rows' }] : []),
    ...(state === 'succeeded' ? [{ action: 'table' as const, label: 'Open Table' }] : []),
    ...(can.cancel ? [{ action: 'cancel' as const, label: 'Cancel' }] : []),
    ...(state === 'succeeded' ? [] : [{ action: 'table' as const, label: 'Open Table' }]),
    { action: 'code', label: 'Copy as Code' },
  ];
}
