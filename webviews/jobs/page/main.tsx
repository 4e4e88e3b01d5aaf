import '../parts/job.css';
import './jobs.css';
import type { JobPageState, JobAction, JobPageHostMethods, JobPageViewMethods } from '#shared/jobs/jobPageMessages.ts';
import { Boundary } from '../../parts/boundary.tsx';
import type { Act } from '../parts/jobActions.tsx';
import { JobPage } from './jobPage.tsx';
import { PlanPage } from './planPage.tsx';
import { createRoot } from 'react-dom/client';
import { isAbort, messageOf } from '#shared/errors.ts';
import { Endpoint } from '#shared/protocol/rpc.ts';
import { JobLog } from './jobLog.ts';

type PageProps = {
  readonly state: JobPageState | undefined;
  readonly log: readonly string[];
  readonly isCut: boolean;
  /** Milliseconds since 1970. */
  readonly now: number;
  readonly act: Act;
};

/** A plan, a job, or the reason why there is neither. The component has no state. */
function Page({ state, log, isCut, now, act }: PageProps) {
  // The first state arrives at once, so a spinner would only flash.
  if (state === undefined) return <main aria-busy="true" />;
  return (
    <Boundary key={state.kind} fallback={<Nothing title="Can't draw the job" message="Show it again." />}>
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

/** VS Code's API in a webview. */
declare function acquireVsCodeApi(): { postMessage(message: unknown): void; setState(state: unknown): void };

const editor = acquireVsCodeApi();
const root = createRoot(document.getElementById('root') ?? document.body);
const host = new Endpoint<JobPageViewMethods, JobPageHostMethods>((frame) => editor.postMessage(frame), {
  show: (next) => (show(next), null),
});
const log = new JobLog((from, signal) => host.request('log', { from }, signal), draw);
let state: JobPageState | undefined;

function show(next: JobPageState): void {
  state = next;
  // Store the job's id, from which the extension reopens the page after a reload. A plan is not restored.
  editor.setState(next.kind === 'job' ? { job: next.job.id } : {});
  log.follow(next.kind === 'job' ? next.job : undefined);
  draw();
}

function requestAction(action: JobAction): void {
  // The editor reports errors to the user.
  host.request('act', { action }).catch(() => {});
}

function draw(): void {
  root.render(<Page state={state} log={log.lines} isCut={log.isCut} now={Date.now()} act={requestAction} />);
}

addEventListener('message', (event) => void host.receive(event.data));
addEventListener('pagehide', () => {
  log.close();
  host.close();
});
// Also update the displayed times while a running job sends nothing.
setInterval(draw, 1000);

draw();
try {
  const first = await host.request('ready', null);
  // Ignore the response if a newer state has arrived during the request.
  if (state === undefined) show(first);
} catch (error) {
  if (!isAbort(error)) show({ kind: 'nothing', title: "Can't show the job", message: messageOf(error) });
}
