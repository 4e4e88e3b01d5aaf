import { createRoot } from 'react-dom/client';
import { isAbort, messageOf } from '#shared/errors.ts';
import type { JobAction, JobPageHostMethods, JobPageState, JobPageViewMethods } from '#shared/jobs/jobPageMessages.ts';
import { Endpoint } from '#shared/rpc.ts';
import '../parts/job.css';
import './jobs.css';
import { JobLog } from './jobLog.ts';
import { Page } from './page.tsx';

/** What VS Code gives a webview to talk with. */
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
  // What a reloaded window gives back to the extension to open the page again. A plan is made anew by who wants it.
  editor.setState(next.kind === 'job' ? { job: next.job.id } : {});
  log.follow(next.kind === 'job' ? next.job : undefined);
  draw();
}

function act(action: JobAction): void {
  // The editor tells the person what goes wrong.
  host.request('act', { action }).catch(() => {});
}

function draw(): void {
  root.render(<Page state={state} log={log.lines} isCut={log.isCut} now={Date.now()} act={act} />);
}

addEventListener('message', (event) => void host.receive(event.data));
addEventListener('pagehide', () => {
  log.close();
  host.close();
});
// Times are told as they pass, where a job at work says nothing for a while.
setInterval(draw, 1000);

draw();
try {
  const first = await host.request('ready', null);
  // Something newer may have been shown meanwhile.
  if (state === undefined) show(first);
} catch (error) {
  if (!isAbort(error)) show({ kind: 'nothing', title: 'The job can not be shown', message: messageOf(error) });
}
