import { CatalogError, isCatalogErrorKind } from '#shared/errors.ts';
import type { ChangesState } from '#shared/protocol/changes.ts';
import {
  type SqlResultState,
  type ViewState,
  viewsHostChecks,
  type ViewsHostMethods,
  type ViewsMethods,
} from '#shared/protocol/viewsMessages.ts';
import { RemoteError } from '#shared/protocol/rpc.ts';
import { callListener } from './calls.ts';
import type { NodeRuntime } from './childProcess.ts';
import { PipedProcess } from './pipedProcess.ts';

export type ViewsStart = {
  /** The bundle, `dist/views.cjs`. */
  entry: string;
  node: NodeRuntime;
  /** Called with the state of a result when it has changed. */
  onResult: (id: string, state: SqlResultState) => void;
  /** Called with the number of rows that an export has written. */
  onExport: (id: string, rows: number) => void;
  /** Called with the state of a sorted or filtered table when it has changed. */
  onView: (id: string, state: ViewState) => void;
  /** Called with the state of a comparison when it has changed. */
  onChanges: (id: string, state: ChangesState) => void;
  signal?: AbortSignal | undefined;
};

/** The process for the views of a window: the results of SQL, sorted and filtered tables, and exports. It ends with this process. */
export class ViewsProcess {
  readonly #process: PipedProcess<ViewsHostMethods, ViewsMethods>;

  /**
   * Starts the process and waits until it listens.
   * @throws CatalogError ServiceUnavailable (17) if it ends or does not report in time; AbortError if cancelled
   */
  static async start(options: ViewsStart): Promise<ViewsProcess> {
    options.signal?.throwIfAborted();
    const started = new ViewsProcess(options);
    try {
      await started.#process.listening((reason) => unavailable('did not start', reason), options.signal);
      return started;
    } catch (error) {
      started.dispose();
      throw error;
    }
  }

  private constructor({ node, entry, onResult, onExport, onView, onChanges }: ViewsStart) {
    this.#process = new PipedProcess({
      node,
      entry,
      handlers: (markReady) => ({
        ready: () => (markReady(), null),
        resultChanged: (params) => {
          if (viewsHostChecks.resultChanged(params)) callListener(() => onResult(params.id, params.state));
          return null;
        },
        viewChanged: (params) => {
          if (viewsHostChecks.viewChanged(params)) callListener(() => onView(params.id, params.state));
          return null;
        },
        changesAdvanced: (params) => {
          if (viewsHostChecks.changesAdvanced(params)) callListener(() => onChanges(params.id, params.state));
          return null;
        },
        exportAdvanced: (params) => {
          if (viewsHostChecks.exportAdvanced(params)) callListener(() => onExport(params.id, params.rows));
          return null;
        },
      }),
    });
  }

  get pid(): number | undefined {
    return this.#process.pid;
  }

  /**
   * Calls a method of the process.
   * @throws CatalogError of the method, or ServiceUnavailable (17) if the process has ended; AbortError if `signal` is
   * aborted
   */
  async request<K extends keyof ViewsMethods>(
    method: K,
    params: ViewsMethods[K][0],
    signal?: AbortSignal,
  ): Promise<ViewsMethods[K][1]> {
    try {
      return await this.#process.request(method, params, signal);
    } catch (error) {
      throw error instanceof RemoteError ? this.#failureOf(error) : error;
    }
  }

  /** Called once with the reason when the process has ended, or immediately if it has ended. */
  onDidExit(listener: (reason: string) => void): { dispose(): void } {
    return this.#process.onDidExit(listener);
  }

  /** Closes the pipe as a crash of this process would. The other process then ends by itself. */
  closePipe(): void {
    this.#process.closePipe();
  }

  dispose(): void {
    this.#process.dispose();
  }

  /** Recreates an error of the other process, because the class is not sent. The message sent includes the hint. */
  #failureOf(error: RemoteError): Error {
    const { code, message } = error;
    if (code === 'closed') return unavailable('has ended', this.#process.end ?? 'its pipe closed');
    return isCatalogErrorKind(code) ? new CatalogError(code, message, '', { cause: error }) : error;
  }
}

const unavailable = (what: string, reason: string): CatalogError =>
  new CatalogError(
    'ServiceUnavailable',
    `The process for results ${what}: ${reason}.`,
    'Run the query again. If it does not start, check the setting lanceCatalog.nodePath.',
  );
