import { agoText } from '#shared/ageText.ts';
import { countText } from '#shared/formatNumber.ts';
import type { JobView } from '#shared/jobs/jobView.ts';
import { durationText, isActive, jobTableText, rowsText, runnerWords, sizeText } from '#shared/jobs/jobWords.ts';
import { ErrorRows } from './errorRows.tsx';
import { LogLines } from './logLines.tsx';
import { Actions, actionsOf, type Act } from '../parts/jobActions.tsx';
import { Progress } from '../parts/jobProgress.tsx';

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
