import type * as vscode from 'vscode';
import { isAbort } from '#shared/errors.ts';
import { JobError } from '#shared/jobs/jobErrors.ts';
import {
  isJobAction,
  type JobAction,
  type JobPageHostMethods,
  type JobPageState,
  type JobPageViewMethods,
} from '#shared/jobs/jobPageMessages.ts';
import { Endpoint } from '#shared/protocol/rpc.ts';
import { logFailure, type Log } from '../host/log.ts';
import { asRecord } from '#shared/records.ts';
import { webviewHtml } from '../panels/html.ts';
import type { JobsHost } from './jobsHost.ts';
import type { PlanSession } from './backfill/planSession.ts';

type JobPageDeps = {
  readonly host: JobsHost;
  readonly log: Log;
  readonly act: (action: JobAction, id: string) => Promise<void>;
};

/** A page that shows a plan and, after the start, the job of the plan. */
export class JobPage implements vscode.Disposable {
  readonly panel: vscode.WebviewPanel;
  readonly #parts: JobPageDeps;
  readonly #endpoint: Endpoint<JobPageHostMethods, JobPageViewMethods>;
  readonly #subscriptions: vscode.Disposable[];
  #plan: PlanSession | undefined;
  #job: string | undefined;
  /** Whether the page has requested its state. Before this request, the page can't receive updates. */
  #isListening = false;
  #told = '';

  constructor(panel: vscode.WebviewPanel, dist: vscode.Uri, parts: JobPageDeps, content: string | PlanSession) {
    this.panel = panel;
    this.#parts = parts;
    this.#endpoint = new Endpoint<JobPageHostMethods, JobPageViewMethods>(
      (frame) => void panel.webview.postMessage(frame),
      {
        ready: () => {
          this.#isListening = true;
          return this.state;
        },
        log: (params, signal) => this.#log(params, signal),
        act: async (params) => {
          const { action } = asRecord(params);
          if (isJobAction(action)) await this.act(action);
          return null;
        },
      },
    );
    this.#subscriptions = [
      panel.webview.onDidReceiveMessage((frame: unknown) => void this.#endpoint.receive(frame)),
      panel.onDidDispose(() => this.dispose()),
      panel.onDidChangeViewState(() => this.#tell()),
      parts.host.onDidChange(() => this.#tell()),
    ];
    if (typeof content === 'string') this.#job = content;
    else this.#follow(content);
    panel.webview.options = { enableScripts: true, localResourceRoots: [dist] };
    panel.webview.html = webviewHtml(panel.webview, dist, 'jobPage', 'Job', 'page');
    this.#tell();
  }

  /** The id of the job; `undefined` for a plan. */
  get job(): string | undefined {
    return this.#job;
  }

  get plan(): PlanSession | undefined {
    return this.#plan;
  }

  get state(): JobPageState {
    if (this.#plan) return this.#plan.state;
    const job = this.#job === undefined ? undefined : this.#parts.host.board.get(this.#job);
    if (job) return { kind: 'job', job };
    const { isListed } = this.#parts.host;
    return {
      kind: 'nothing',
      title: isListed ? 'The job no longer exists' : 'Looking for the job',
      message: isListed ? 'It was removed. The values that it computed are in its table.' : 'This takes a moment.',
    };
  }

  /** Handles a button of the page. Failures are shown to the user. */
  async act(action: JobAction): Promise<void> {
    if (this.#plan) return this.#plan.act(action);
    if (this.#job !== undefined) await this.#parts.act(action, this.#job);
  }

  dispose(): void {
    this.#plan?.dispose();
    this.#endpoint.close();
    for (const subscription of this.#subscriptions.splice(0)) subscription.dispose();
  }

  #follow(plan: PlanSession): void {
    this.#plan = plan;
    this.#subscriptions.push(
      plan.onDidChange(() => {
        if (plan.started !== undefined) {
          this.#job = plan.started;
          this.#plan = undefined;
          plan.dispose();
        }
        this.#tell();
      }),
    );
  }

  #tell(): void {
    const { state } = this;
    this.panel.title = titleOf(state);
    // Don't send the state to a hidden page. The page gets the state when it becomes visible.
    if (!this.#isListening || !this.panel.visible) return;
    const told = JSON.stringify(state);
    if (told === this.#told) return;
    this.#told = told;
    this.#endpoint.request('show', state).catch((error: unknown) => {
      // A hidden page loses its content. The page requests its state again when it becomes visible.
      if (!isAbort(error)) this.#told = '';
    });
  }

  async #log(params: unknown, signal: AbortSignal): Promise<{ text: string; next: number }> {
    const { from } = asRecord(params);
    if (this.#job === undefined || typeof from !== 'number' || !Number.isSafeInteger(from) || from < 0)
      throw new JobError('RequestInvalid', "Can't read the log: the position is not valid.", 'Show the job again.');
    try {
      return await this.#parts.host.request('log', { id: this.#job, from }, signal);
    } catch (error) {
      if (!isAbort(error)) logFailure(this.#parts.log, `the log of the job ${this.#job}`, error);
      throw error;
    }
  }
}

function titleOf(state: JobPageState): string {
  if (state.kind === 'nothing') return 'Job';
  if (state.kind === 'plan') return `Plan: ${state.table.name}.${state.plan.column}`;
  return `${state.job.table.name}.${state.job.column}`;
}
