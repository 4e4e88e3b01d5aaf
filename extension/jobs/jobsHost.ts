import * as vscode from 'vscode';
import { JobError } from '#shared/jobs/jobErrors.ts';
import type { JobsMethods } from '#shared/jobs/jobMessages.ts';
import type { JobView } from '#shared/jobs/jobView.ts';
import { messageOf } from '#shared/errors.ts';
import { logFailure, type Log } from '../host/log.ts';
import { endedSince, withJobs, type JobListState } from './jobBoard.ts';

/** The part of the connection to the jobs process that the window needs. */
type JobsLink = {
  readonly pid: number | undefined;
  request<K extends keyof JobsMethods>(
    method: K,
    params: JobsMethods[K][0],
    signal?: AbortSignal,
  ): Promise<JobsMethods[K][1]>;
  onDidExit(listener: (reason: string) => void): { dispose(): void };
  dispose(): void;
};

export type JobsHostDeps = {
  readonly log: Log;
  readonly startProcess: (
    onChanged: (changed: readonly JobView[], removed: readonly string[]) => void,
    signal: AbortSignal,
  ) => Promise<JobsLink>;
  /** Returns whether a job of this user may be running. The check starts no process. */
  readonly mayHaveRunningJobs: () => Promise<boolean>;
};

/** Limit of crashes within `failureWindow`. After that, only the next request starts the process again. */
const maxFailures = 3;
const failureWindow = 5 * 60_000;
const againMilliseconds = 1000;

/**
 * The jobs of this user as this window knows them, and the connection to the jobs process. The process starts on a
 * request, or if jobs are running. Jobs are separate processes and continue after the jobs process ends.
 */
export class JobsHost implements vscode.Disposable {
  readonly #parts: JobsHostDeps;
  readonly #changed = new vscode.EventEmitter<void>();
  readonly #ended = new vscode.EventEmitter<readonly JobView[]>();
  readonly #lifetime = new AbortController();
  readonly #trusted: vscode.Disposable;
  readonly onDidChange = this.#changed.event;
  /** Fires when jobs have ended that this window knew as active. */
  readonly onDidEnd = this.#ended.event;
  #board: JobListState = new Map();
  #link: Promise<JobsLink> | undefined;
  #isListed = false;
  #runningPid: number | undefined;
  #failures: number[] = [];
  #again: NodeJS.Timeout | undefined;

  constructor(parts: JobsHostDeps) {
    this.#parts = parts;
    this.#trusted = vscode.workspace.onDidGrantWorkspaceTrust(() => this.wake());
  }

  get board(): JobListState {
    return this.#board;
  }

  /** Whether the list of jobs has been loaded. Until then, an empty board does not mean that there are no jobs. */
  get isListed(): boolean {
    return this.#isListed;
  }

  /** The process id after the start; for tests. */
  async pid(): Promise<number | undefined> {
    return (await this.#link)?.pid;
  }

  /** The id of the running process, without waiting for a start. */
  get runningPid(): number | undefined {
    return this.#runningPid;
  }

  /** Restarts the jobs process after its environment has changed. Jobs continue. */
  async restart(): Promise<void> {
    const link = await this.#link?.catch(() => undefined);
    if (!link) return;
    this.#link = undefined;
    this.#runningPid = undefined;
    link.dispose();
    await this.watch();
  }

  /** Starts watching, but only if jobs may be running. Reads only a folder to find that out. */
  wake(): void {
    if (!vscode.workspace.isTrusted || this.#link) return;
    this.#parts
      .mayHaveRunningJobs()
      .then((mayRun) => (mayRun && !this.#lifetime.signal.aborted ? this.watch() : undefined))
      .catch((error: unknown) => logFailure(this.#parts.log, 'looking for jobs', error));
  }

  /** Loads the list of jobs and receives changes from now on. @throws JobError if the process does not start */
  async watch(): Promise<void> {
    await this.#ensure();
  }

  /**
   * Sends a request to the jobs process.
   * @throws JobError RequestInvalid in an untrusted workspace; errors of the process; AbortError
   */
  async request<K extends keyof JobsMethods>(
    method: K,
    params: JobsMethods[K][0],
    signal?: AbortSignal,
  ): Promise<JobsMethods[K][1]> {
    const link = await this.#ensure();
    return link.request(method, params, signal);
  }

  dispose(): void {
    this.#lifetime.abort();
    clearTimeout(this.#again);
    const link = this.#link;
    this.#link = undefined;
    link?.then((one) => one.dispose()).catch(() => undefined);
    this.#trusted.dispose();
    this.#changed.dispose();
    this.#ended.dispose();
  }

  #ensure(): Promise<JobsLink> {
    if (!vscode.workspace.isTrusted) return Promise.reject(untrusted());
    this.#link ??= this.#start(this.#lifetime.signal);
    return this.#link;
  }

  async #start(signal: AbortSignal): Promise<JobsLink> {
    let link: JobsLink | undefined;
    try {
      // Ignore changes that arrive before the list, because the list includes them.
      link = await this.#parts.startProcess(
        (changed, removed) => this.#isListed && this.#take(changed, removed),
        signal,
      );
      this.#parts.log.info(`the jobs process runs: pid ${link.pid}`);
      const started = link;
      this.#runningPid = link.pid;
      started.onDidExit((reason) => this.#exited(reason));
      await started.request('watch', null, signal);
      const listed = await started.request('list', null, signal);
      const known = new Set(listed.map(({ id }) => id));
      this.#isListed = true;
      this.#take(
        listed,
        [...this.#board.keys()].filter((id) => !known.has(id)),
      );
      return started;
    } catch (cause) {
      this.#link = undefined;
      link?.dispose();
      signal.throwIfAborted();
      throw new JobError('Internal', `Can't start the jobs process: ${messageOf(cause)}`, '', { cause });
    }
  }

  #take(changed: readonly JobView[], removed: readonly string[]): void {
    const before = this.#board;
    this.#board = withJobs(before, changed, removed);
    this.#changed.fire();
    const ended = endedSince(before, this.#board);
    if (ended.length > 0) this.#ended.fire(ended);
  }

  /**
   * Starts the process again to continue watching. The jobs themselves run without this process. Does nothing after
   * repeated crashes.
   */
  #exited(reason: string): void {
    this.#link = undefined;
    this.#runningPid = undefined;
    if (this.#lifetime.signal.aborted) return;
    this.#parts.log.warn(`the jobs process has ended: ${reason}`);
    const now = Date.now();
    this.#failures = [...this.#failures.filter((at) => now - at < failureWindow), now];
    if (this.#failures.length >= maxFailures) {
      this.#parts.log.error('the jobs process ended three times in five minutes; the next request starts it again');
      return;
    }
    clearTimeout(this.#again);
    this.#again = setTimeout(() => {
      this.watch().catch((error: unknown) => logFailure(this.#parts.log, 'starting the jobs process again', error));
    }, againMilliseconds);
  }
}

const untrusted = (): JobError =>
  new JobError(
    'RequestInvalid',
    'Backfills run only in trusted workspaces, because they run code.',
    'Trust this workspace first ("Workspaces: Manage Workspace Trust").',
  );
