import { durationText } from '#shared/format/times.ts';
import { isActive, percentText, rateText, shareDone, stateLabels } from '#shared/jobs/jobLabels.ts';
import type { JobView } from '#shared/jobs/jobView.ts';

/** State, bar and percentage. Screen readers read the bar's value. */
export function Progress({ job }: { job: JobView }) {
  const share = shareDone(job);
  const percent = share === undefined ? undefined : Math.floor(share * 100);
  const said = `${stateLabels[job.state]}${share === undefined ? '' : `, ${percentText(share)}`}`;
  return (
    <section className={`job-progress job-${job.state}`} aria-label="Progress">
      <div
        className={['job-bar', ...motionOf(job, percent)].join(' ')}
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
        <strong>{stateLabels[job.state]}</strong>
        {share !== undefined && job.state !== 'succeeded' && <span>{percentText(share)}</span>}
        {isActive(job) && job.phase === 'writing' && <span>writing</span>}
        {isActive(job) && job.rowsPerSecond !== undefined && <span>{rateText(job.rowsPerSecond)}</span>}
        {isActive(job) && job.secondsLeft !== undefined && <span>{durationText(job.secondsLeft)} left</span>}
      </p>
    </section>
  );
}

/** A bar moves while a running job has no share, or while it writes rows, which does not change the share until the end. */
function motionOf(job: JobView, percent: number | undefined): readonly string[] {
  if (!isActive(job)) return [];
  if (percent === undefined) return ['job-unknown'];
  return job.phase === 'writing' ? ['job-writing'] : [];
}
