import type { JobPageState } from '#shared/jobs/jobPageMessages.ts';
import { Boundary } from '../parts/boundary.tsx';
import type { Act } from '../parts/jobActions.tsx';
import { JobPage } from './jobPage.tsx';
import { PlanPage } from './planPage.tsx';

type PageProps = {
  readonly state: JobPageState | undefined;
  readonly log: readonly string[];
  readonly isCut: boolean;
  /** Milliseconds since 1970. */
  readonly now: number;
  readonly act: Act;
};

/** A plan, a job, or why there is neither. It draws what it is given and knows nothing else. */
export function Page({ state, log, isCut, now, act }: PageProps) {
  // The first words come within a blink: a spinner would only flash.
  if (state === undefined) return <main aria-busy="true" />;
  return (
    <Boundary key={state.kind} fallback={<Nothing title="The job can not be drawn" message="Show it again." />}>
      {state.kind === 'job' && <JobPage job={state.job} log={log} isCut={isCut} now={now} act={act} />}
      {state.kind === 'plan' && <PlanPage state={state} act={act} />}
      {state.kind === 'nothing' && <Nothing title={state.title} message={state.message} />}
    </Boundary>
  );
}

function Nothing({ title, message }: { title: string; message: string }) {
  return (
    <main className="job-nothing" role="alert">
      <h1>{title}</h1>
      <p>{message}</p>
    </main>
  );
}
