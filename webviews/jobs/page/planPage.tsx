import type { JobPageState } from '#shared/jobs/jobPageMessages.ts';
import { functionText, jobTableText, planLines, planRunnerText, runnerLabels } from '#shared/jobs/jobLabels.ts';
import { Actions, type Act } from '../parts/jobActions.tsx';

type PlanState = Extract<JobPageState, { kind: 'plan' }>;

const sentences = {
  nothing: 'Nothing has been changed. This is what a run would do:',
  try: 'Computing one fragment, without writing anything. This is what a run would do:',
  plan: 'Planning again, with the measurements of the trial. This is what a run would do:',
  run: 'Starting the job. This is what it does:',
} as const;

/** Shows what a run would do, before the user starts it. */
export function PlanPage({ state, act }: { state: PlanState; act: Act }) {
  const { plan, table, busy, problem } = state;
  const { column, notes, others, options, readVersion } = plan;
  const isDisabled = busy !== undefined;
  return (
    <main className="job" aria-busy={isDisabled}>
      <header>
        <h1>
          {column} <span className="job-of">of {jobTableText(table)}</span>
        </h1>
        <p className="job-quiet">
          Plan of a backfill · {table.catalog} · version {readVersion}
        </p>
      </header>
      <p className="job-sentence" role="status">
        {sentences[busy ?? 'nothing']}
      </p>
      <PlanTable state={state} />
      {options.where !== undefined && (
        <p>
          Rows where <code>{options.where}</code>
        </p>
      )}
      {notes.map(({ level, text }) => (
        <p key={text} className={level === 'warning' ? 'job-note job-warning' : 'job-note'}>
          {level === 'warning' && <strong>Note: </strong>}
          {text}
        </p>
      ))}
      {problem !== undefined && (
        <p className="job-note job-failure" role="alert">
          {problem}
        </p>
      )}
      <Actions
        actions={[
          { action: 'run', label: busy === 'run' ? 'Starting…' : 'Run', isDisabled },
          busy === 'try'
            ? { action: 'cancel', label: 'Stop Trial' }
            : { action: 'try', label: 'Try One Fragment', isDisabled },
          { action: 'code', label: 'Copy as Code', isDisabled: false },
        ]}
        act={act}
      />
      <section aria-labelledby="plan-runner">
        <h2 id="plan-runner">Where it runs</h2>
        <p>{planRunnerText(plan)}</p>
        <dl className="job-facts job-runners">
          {others.map(({ runner, isPossible, reason }) => (
            <div key={runner}>
              <dt>{`On ${runnerLabels[runner]}${isPossible ? '' : ' (not available)'}`}</dt>
              <dd>{reason}</dd>
            </div>
          ))}
        </dl>
      </section>
    </main>
  );
}

function PlanTable({ state: { plan } }: { state: PlanState }) {
  return (
    <table className="job-plan">
      <tbody>
        <tr>
          <th scope="row">Function</th>
          <td className="job-code">{functionText(plan)}</td>
        </tr>
        {planLines(plan).map(({ label, text, basis }) => (
          <tr key={label}>
            <th scope="row">{label}</th>
            <td>
              {text}
              {basis !== undefined && <span className="job-quiet"> — an estimate: {basis}</span>}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
