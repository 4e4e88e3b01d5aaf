import * as vscode from 'vscode';
import { ageEvery } from '#shared/format/times.ts';
import type { JobView } from '#shared/jobs/jobView.ts';
import { setContext } from '../host/commands.ts';
import { createMarkdown } from '../host/messages.ts';
import { logFailure, type Log } from '../host/log.ts';
import type { State } from '../host/state.ts';
import { createTreeItem } from '../host/treeRow.ts';
import { viewIds } from '../manifest.ts';
import { activeJobs, jobsInOrder } from './jobBoard.ts';
import type { JobNode } from './jobNode.ts';
import { boardMessage, renderJob } from './jobRows.ts';
import type { JobsHost } from './jobsHost.ts';

type JobsViewDeps = {
  readonly host: JobsHost;
  readonly log: Log;
  readonly state: Pick<State, 'showsJobs' | 'setShowsJobs'>;
};

/** Minimum time between redraws, in milliseconds, because VS Code redraws the whole view each time. */
const drawEvery = 250;

/** The Jobs view, which shows the board of `JobsHost`. */
export class JobsView implements vscode.TreeDataProvider<JobNode>, vscode.Disposable {
  readonly #host: JobsHost;
  readonly #log: Log;
  readonly #state: Pick<State, 'showsJobs' | 'setShowsJobs'>;
  readonly #changed = new vscode.EventEmitter<JobNode | undefined>();
  readonly onDidChangeTreeData = this.#changed.event;
  /** The object of each row. Each row keeps its object, because VS Code identifies a row by object identity. */
  readonly #nodes = new Map<string, JobNode>();
  readonly #view: vscode.TreeView<JobNode>;
  readonly #subscriptions: vscode.Disposable[];
  #drawing: NodeJS.Timeout | undefined;

  constructor({ host, log, state }: JobsViewDeps) {
    this.#host = host;
    this.#log = log;
    this.#state = state;
    if (state.showsJobs()) setContext('lanceCatalog.jobs.isShown', true);
    this.#view = vscode.window.createTreeView(viewIds.jobs, { treeDataProvider: this });
    // Redraw at intervals, because a row shows the age of an ended job in minutes.
    const timer = setInterval(() => this.#view.visible && this.#draw(), ageEvery);
    timer.unref();
    this.#subscriptions = [
      this.#view,
      this.#changed,
      host.onDidChange(() => (this.#drawing ??= setTimeout(() => this.#draw(), drawEvery))),
      this.#view.onDidChangeVisibility(({ visible }) => visible && vscode.workspace.isTrusted && this.#watch()),
      { dispose: () => clearInterval(timer) },
      { dispose: () => clearTimeout(this.#drawing) },
    ];
    this.#draw();
  }

  get selected(): JobNode | undefined {
    return this.#view.selection[0];
  }

  /** The message above the rows. Only tests read `message` and `badge`. */
  get message(): string | undefined {
    return this.#view.message;
  }

  get badge(): vscode.ViewBadge | undefined {
    return this.#view.badge;
  }

  getChildren(parent?: JobNode): JobNode[] {
    return parent ? [] : jobsInOrder(this.#host.board).map(({ id }) => this.#known(id));
  }

  getParent(): undefined {
    return undefined;
  }

  getTreeItem(node: JobNode): vscode.TreeItem {
    const view = this.#host.board.get(node.id);
    return view ? toTreeItem(view, node) : new vscode.TreeItem('');
  }

  /** Focuses the view with its focus command, because there may be no row to reveal. */
  async focus(): Promise<void> {
    await this.#show();
    await vscode.commands.executeCommand(`${viewIds.jobs}.focus`);
  }

  dispose(): void {
    for (const subscription of this.#subscriptions) subscription.dispose();
  }

  /** Shows the view when the first job exists. Until then the catalog view uses the space. */
  async #show(): Promise<void> {
    if (this.#state.showsJobs()) return;
    setContext('lanceCatalog.jobs.isShown', true);
    await this.#state.setShowsJobs(true);
  }

  #watch(): void {
    this.#host.watch().catch((error: unknown) => logFailure(this.#log, 'listing jobs', error));
  }

  #draw(): void {
    this.#drawing = undefined;
    const { board } = this.#host;
    const running = activeJobs(board).length;
    setContext('lanceCatalog.jobs.hasEnded', board.size > running);
    // An empty string removes the message line.
    this.#view.message = boardMessage([...board.values()]);
    this.#view.badge =
      running > 0 ? { value: running, tooltip: `${running} ${running === 1 ? 'job' : 'jobs'} running` } : undefined;
    for (const id of this.#nodes.keys()) if (!board.has(id)) this.#nodes.delete(id);
    this.#changed.fire(undefined);
    if (board.size > 0) this.#show().catch((error: unknown) => logFailure(this.#log, 'showing the jobs', error));
  }

  #known(id: string): JobNode {
    const known = this.#nodes.get(id) ?? { kind: 'job', id };
    this.#nodes.set(id, known);
    return known;
  }
}

function toTreeItem(view: JobView, node: JobNode): vscode.TreeItem {
  const row = renderJob(view, Date.now());
  const open = { command: 'lanceCatalog.jobs.open', title: 'Show Job', arguments: [node] };
  return createTreeItem(row, createMarkdown(row.tooltip), open);
}
