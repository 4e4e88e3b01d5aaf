import type * as vscode from 'vscode';
import { findNode } from '#processes/childProcess.ts';
import type { ViewsProcess } from '#processes/viewsProcess.ts';
import type { ChangesState } from '#shared/protocol/changes.ts';
import type { SqlResultState, ViewsMethods, ViewState } from '#shared/protocol/viewsMessages.ts';
import type { Log } from './log.ts';
import { setting } from './settings.ts';

/**
 * The views process of this window, which runs SQL, keeps the rows of results, sorts and filters tables,
 * and writes exports. It starts with the first request. If
 * it ends, its results are lost, and the next request starts it again.
 */
export class ViewsHost implements vscode.Disposable {
  readonly #entry: string;
  readonly #log: Log;
  readonly #lifetime = new AbortController();
  /** By id of a result. */
  readonly #listeners = new Map<string, (state: SqlResultState) => void>();
  /** By id of an export. */
  readonly #progress = new Map<string, (rows: number) => void>();
  /** By id of a sorted or filtered table. */
  readonly #views = new Map<string, (state: ViewState | undefined) => void>();
  /** By id of a comparison. */
  readonly #changes = new Map<string, (state: ChangesState | undefined) => void>();
  #process: Promise<ViewsProcess> | undefined;
  #runningPid: number | undefined;

  /** @param entry the bundle, `dist/views.cjs` */
  constructor(entry: string, log: Log) {
    this.#entry = entry;
    this.#log = log;
  }

  /** The id of the running process, without waiting for a start. */
  get runningPid(): number | undefined {
    return this.#runningPid;
  }

  /**
   * Sends a request to the process.
   * @throws CatalogError of the process, or ServiceUnavailable (17) if it does not start or has ended; AbortError
   */
  async request<K extends keyof ViewsMethods>(
    method: K,
    params: ViewsMethods[K][0],
    signal?: AbortSignal,
  ): Promise<ViewsMethods[K][1]> {
    this.#lifetime.signal.throwIfAborted();
    this.#process ??= this.#start();
    return (await this.#process).request(method, params, signal);
  }

  /** Calls a listener with each state of a result. If the process ends, the result has failed. */
  onResult(id: string, listener: (state: SqlResultState) => void): { dispose(): void } {
    this.#listeners.set(id, listener);
    return { dispose: () => void this.#listeners.delete(id) };
  }

  /** Calls a listener with the number of rows that an export has written. */
  onExport(id: string, listener: (rows: number) => void): { dispose(): void } {
    this.#progress.set(id, listener);
    return { dispose: () => void this.#progress.delete(id) };
  }

  /** Calls a listener with each state of a sorted or filtered table; with `undefined` if the process has ended. */
  onView(id: string, listener: (state: ViewState | undefined) => void): { dispose(): void } {
    this.#views.set(id, listener);
    return { dispose: () => void this.#views.delete(id) };
  }

  /** Calls a listener with each state of a comparison; with `undefined` if the process has ended. */
  onChanges(id: string, listener: (state: ChangesState | undefined) => void): { dispose(): void } {
    this.#changes.set(id, listener);
    return { dispose: () => void this.#changes.delete(id) };
  }

  dispose(): void {
    this.#lifetime.abort();
    this.#process?.then((one) => one.dispose()).catch(() => undefined);
    this.#listeners.clear();
    this.#views.clear();
    this.#changes.clear();
  }

  async #start(): Promise<ViewsProcess> {
    const { signal } = this.#lifetime;
    try {
      const nodePath = setting('lanceCatalog.nodePath');
      const node = await findNode({ ...(nodePath && { nodePath }), signal });
      const { ViewsProcess: views } = await import('#processes/viewsProcess.ts');
      const started = await views.start({
        entry: this.#entry,
        node,
        signal,
        onResult: (id, state) => this.#listeners.get(id)?.(state),
        onExport: (id, rows) => this.#progress.get(id)?.(rows),
        onView: (id, state) => this.#views.get(id)?.(state),
        onChanges: (id, state) => this.#changes.get(id)?.(state),
      });
      this.#runningPid = started.pid;
      this.#log.info(`the views process runs: pid ${started.pid}`);
      started.onDidExit((reason) => this.#exited(reason));
      return started;
    } catch (error) {
      this.#process = undefined;
      throw error;
    }
  }

  #exited(reason: string): void {
    this.#process = undefined;
    this.#runningPid = undefined;
    if (this.#lifetime.signal.aborted) return;
    this.#log.warn(`the views process has ended: ${reason}`);
    const message = `The process for results has ended: ${reason}. Run the query again.`;
    const state: SqlResultState = { rows: 0, end: 'failed', problem: { message, offset: null }, milliseconds: 0 };
    for (const listener of this.#listeners.values()) listener(state);
    for (const listener of this.#views.values()) listener(undefined);
    for (const listener of this.#changes.values()) listener(undefined);
  }
}
