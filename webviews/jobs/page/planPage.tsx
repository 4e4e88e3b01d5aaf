import { countText } from '#shared/format/numbers.ts';
import type { JobPageState } from '#shared/jobs/jobPageMessages.ts';
import { maxTrialRows, type PlanSample } from '#shared/jobs/jobPlan.ts';
import {
  functionText,
  jobTableText,
  planLines,
  planRunnerText,
  rowsText,
  runnerLabels,
} from '#shared/jobs/jobLabels.ts';
import { Actions, type Act } from '../parts/jobActions.tsx';

type PlanState = Extract<JobPageState, { kind: 'plan' }>;

const sentences = {
  nothing: () => 'Nothing has been changed. This is what a run would do:',
  try: (what: string) => `Computing ${what}, without writing anything. This is what a run would do:`,
  plan: () => 'Planning again, with the measurements of the trial. This is what a run would do:',
  run: () => 'Starting the job. This is what it does:',
} as const;

/** What a trial computes: one fragment, or the rows of the only fragment. Large fragments are cut. */
function trialScope({ fragments, rows }: PlanState['plan']): { readonly label: string; readonly text: string } {
  if (fragments.total.value > 1) return { label: 'One Fragment', text: 'one fragment' };
  if (rows.toCompute.value > maxTrialRows)
    return {
      label: `the First ${countText(maxTrialRows)} Rows`,
      text: `the first ${rowsText(maxTrialRows)}`,
    };
  if (rows.toCompute.value < rows.total.value) return { label: 'All Rows to Compute', text: 'all rows to compute' };
  return { label: 'the Whole Table', text: 'the whole table' };
}

/** Shows what a run would do, before the user starts it. */
export function PlanPage({ state, act }: { state: PlanState; act: Act }) {
  const { plan, table, busy, problem, sample } = state;
  const { column, notes, others, options, readVersion } = plan;
  const isDisabled = busy !== undefined;
  const trial = trialScope(plan);
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
        {sentences[busy ?? 'nothing'](trial.text)}
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
            : { action: 'try', label: `Try ${trial.label}`, isDisabled },
          { action: 'code', label: 'Copy as Code', isDisabled: false },
        ]}
        act={act}
      />
      {sample !== undefined && sample.rows.length > 0 && <Sample column={column} sample={sample} />}
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

/** The values of a few rows, before and after. */
function Sample({ column, sample: { inputs, rows } }: { column: string; sample: PlanSample }) {
  const hasErrors = rows.some(({ error }) => error !== '');
  return (
    <section aria-labelledby="plan-sample">
      <h2 id="plan-sample">Sample</h2>
      <p className="job-quiet">{rowsText(rows.length)}, computed without writing anything.</p>
      <div className="job-scroll" tabIndex={0} role="region" aria-label="Values of the sample">
        <table>
          <thead>
            <tr>
              {inputs.map((name) => (
                <th scope="col" key={name}>
                  {name}
                </th>
              ))}
              <th scope="col">{column} now</th>
              <th scope="col">{column} after the run</th>
              {hasErrors && <th scope="col">Error</th>}
            </tr>
          </thead>
          <tbody>
            {rows.map((row, number) => (
              <tr key={number}>
                {row.inputs.map((text, nth) => (
                  <td key={inputs[nth]} className="job-code">
                    {text}
                  </td>
                ))}
                <td className="job-code job-quiet">{row.before}</td>
                <td className="job-code">{row.after}</td>
                {hasErrors && <td className="job-message">{row.error}</td>}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
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
              {basis !== undefined && <span className="job-quiet"> (estimate from {basis})</span>}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
