import { useLayoutEffect, useRef } from 'react';
import { countText, sizeText } from '#shared/format/numbers.ts';
import { agoText, durationText } from '#shared/format/times.ts';
import type { RowError } from '#shared/jobs/jobEvents.ts';
import { isActive, jobTableText, rowsText, runnerLabels } from '#shared/jobs/jobLabels.ts';
import type { JobView } from '#shared/jobs/jobView.ts';
import { type Act, Actions, actionsOf } from '../parts/jobActions.tsx';
import { Progress } from '../parts/jobProgress.tsx';

/** Limit of the displayed samples. */
const maxShown = 20;

/** The rows for which the function failed, with location, message and inputs. */
function ErrorRows({ errors: { count, samples } }: Pick<JobView, 'errors'>) {
  const shown = samples.slice(0, maxShown);
  return (
    <section aria-labelledby="job-errors">
      <h2 id="job-errors">Failed rows</h2>
      {shown.length === 0 ? (
        <p className="job-quiet">Their errors are shown when their fragment is finished.</p>
      ) : (
        <Samples shown={shown} count={count} />
      )}
    </section>
  );
}

function Samples({ shown, count }: { shown: readonly RowError[]; count: number }) {
  const inputs = [...new Set(shown.flatMap((one) => Object.keys(one.inputs)))];
  return (
    <>
      {shown.length < count && (
        <p className="job-quiet">
          Showing {countText(shown.length)} of {countText(count)} as samples.
        </p>
      )}
      <div className="job-scroll" tabIndex={0} role="region" aria-label="Samples of failed rows">
        <table>
          <thead>
            <tr>
              <th scope="col">Fragment</th>
              <th scope="col">Row</th>
              <th scope="col">Error</th>
              {inputs.map((name) => (
                <th scope="col" key={name}>
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {shown.map((one) => (
              <Sample key={`${one.fragment} ${one.row}`} error={one} inputs={inputs} />
            ))}
          </tbody>
        </table>
      </div>
    </>
  );
}

function Sample({ error, inputs }: { error: RowError; inputs: readonly string[] }) {
  return (
    <tr>
      <td className="job-number">{countText(error.fragment)}</td>
      <td className="job-number">{countText(error.row)}</td>
      <td className="job-message">{error.message}</td>
      {inputs.map((name) => (
        <td key={name} className="job-code">
          {error.inputs[name] ?? ''}
        </td>
      ))}
    </tr>
  );
}

type LogProps = { readonly lines: readonly string[]; readonly isCut: boolean; readonly isJobActive: boolean };

/** If the log is within this distance in pixels from its end, it scrolls to new lines. */
const nearEnd = 24;

/**
 * The last lines of the log. If the user has scrolled to the end, the log follows new lines; otherwise it keeps its
 * position.
 */
function LogLines({ lines, isCut, isJobActive }: LogProps) {
  const box = useRef<HTMLPreElement>(null);
  const isAtEnd = useRef(true);
  const text = lines.join('\n');
  useLayoutEffect(() => {
    // This effect also runs each second, when the page is drawn again without new lines. Then it changes nothing.
    if (box.current && isAtEnd.current) box.current.scrollTop = box.current.scrollHeight;
  });
  return (
    <section aria-labelledby="job-log">
      <h2 id="job-log">Log</h2>
      {isCut && <p className="job-quiet">The last {lines.length.toLocaleString('en-US')} lines.</p>}
      {lines.length === 0 ? (
        <p className="job-quiet">{isJobActive ? 'Nothing was printed yet.' : 'Nothing was printed.'}</p>
      ) : (
        <pre
          ref={box}
          className="job-log"
          tabIndex={0}
          role="log"
          // Screen readers don't read this aloud, because it may grow by a thousand lines a second.
          aria-live="off"
          aria-labelledby="job-log"
          onScroll={({ currentTarget: { scrollTop, clientHeight, scrollHeight } }) => {
            isAtEnd.current = scrollTop + clientHeight >= scrollHeight - nearEnd;
          }}
        >
          {text}
        </pre>
      )}
    </section>
  );
}

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
          {functionName} · on {runnerLabels[job.runner]} · {table.catalog} · {job.id}
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
          <strong>Bottleneck: </strong>
          {bottleneck}
        </p>
      )}
      <Actions actions={actionsOf(job)} act={act} />
      <Facts job={job} now={now} />
      {errors.count > 0 && <ErrorRows errors={errors} />}
      <LogLines lines={log} isCut={isCut} isJobActive={isActive(job)} />
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
    ...(rows.reused > 0
      ? ([
          ['Rows computed', ofAll(rows.done - rows.reused, rows.total && rows.total - rows.reused)],
          ['Kept from an earlier run', rowsText(rows.reused)],
        ] as const)
      : ([['Rows', ofAll(rows.done, rows.total)]] as const)),
    ...(job.written !== undefined && isActive(job) ? [['Rows written', ofAll(job.written, rows.total)] as const] : []),
    ['Fragments', ofAll(fragments.done, fragments.total)],
    ...(errors.count > 0 ? [['Failed', rowsText(errors.count)] as const] : []),
    ...(skipped > 0 ? [['Left for the next run', rowsText(skipped)] as const] : []),
    ...(conflicts > 0 ? [['Conflicts with other writers', countText(conflicts)] as const] : []),
    ...(bytesWritten > 0 ? [['Written', sizeText(bytesWritten)] as const] : []),
    ...(version === undefined ? [] : [['Table version', countText(version)] as const]),
    ['Created', agoText(createdAt, now)],
    ...(seconds === undefined ? [] : [[isActive(job) ? 'Running for' : 'Took', durationText(seconds)] as const]),
    ...(job.options.where === undefined ? [] : [['Rows where', job.options.where] as const]),
  ];
}
