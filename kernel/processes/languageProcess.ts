import { CatalogError } from '#shared/errors.ts';
import {
  languageHostChecks,
  type Finding,
  type LanguageHostMethods,
  type LanguageMethods,
  type TablePath,
} from '#shared/protocol/languageMessages.ts';
import { callListener } from './calls.ts';
import type { NodeRuntime } from './childProcess.ts';
import { languageStartStrategies, type LanguageStartStrategy } from './kernelStart.ts';
import { PipedProcess } from './pipedProcess.ts';

type LanguageStart = {
  /** The worker's bundle, `dist/languageWorker.cjs`. */
  entry: string;
  node: NodeRuntime;
  /** Called with all findings of a cell when they change. */
  onFindings: (notebook: string, cell: string, findings: Finding[]) => void;
  /** Called with the tables that the cells of a notebook open, when they change. */
  onTables?: (notebook: string, tables: TablePath[]) => void;
  signal?: AbortSignal;
};

/** The running language worker of a window. It ends with this process. */
export class LanguageProcess {
  readonly #process: PipedProcess<LanguageHostMethods, LanguageMethods>;

  /**
   * Starts a worker and waits until it listens.
   * @throws CatalogError ServiceUnavailable (17) if it ends or does not report in time; AbortError if cancelled
   */
  static async start(options: LanguageStart): Promise<LanguageProcess> {
    options.signal?.throwIfAborted();
    let failure: unknown;
    for (const way of languageStartStrategies(options.node, options.entry)) {
      const worker = new LanguageProcess(options, way);
      try {
        await worker.#process.listening(notStarted, options.signal);
        return worker;
      } catch (error) {
        const hasEnded = worker.#process.end !== undefined;
        worker.dispose();
        failure = error;
        // If a worker did not report in time, it would not do so after another kind of start either.
        if (!hasEnded || options.signal?.aborted) break;
        way.forget?.();
      }
    }
    throw failure;
  }

  private constructor({ node, onFindings, onTables }: LanguageStart, { flags, entry, args }: LanguageStartStrategy) {
    this.#process = new PipedProcess({
      node,
      flags,
      entry,
      args,
      handlers: (markReady) => ({
        ready: () => (markReady(), null),
        findings: (params) => {
          if (languageHostChecks.findings(params))
            callListener(() => onFindings(params.notebook, params.cell, params.findings));
          return null;
        },
        openedTables: (params) => {
          if (languageHostChecks.openedTables(params)) callListener(() => onTables?.(params.notebook, params.tables));
          return null;
        },
      }),
    });
  }

  /** The process id, for measurements. */
  get pid(): number | undefined {
    return this.#process.pid;
  }

  /** @throws RemoteError if the worker has ended or rejects the request, or if `signal` is aborted */
  request<K extends keyof LanguageMethods>(
    method: K,
    params: LanguageMethods[K][0],
    signal?: AbortSignal,
  ): Promise<LanguageMethods[K][1]> {
    return this.#process.request(method, params, signal);
  }

  /** Sends a notification to the worker, without waiting for a result. */
  tell<K extends 'cells' | 'text' | 'close' | 'tableTypes' | 'filesChanged'>(
    method: K,
    params: LanguageMethods[K][0],
  ): void {
    // The request fails only if the worker has ended, and `onDidExit` reports that.
    this.#process.request(method, params).catch(() => {});
  }

  /** Called once with the reason when the worker has ended, or immediately if it has ended. */
  onDidExit(listener: (reason: string) => void): { dispose(): void } {
    return this.#process.onDidExit(listener);
  }

  /** Closes the pipe as a crash of this process would; the worker then ends by itself. */
  closePipe(): void {
    this.#process.closePipe();
  }

  dispose(): void {
    this.#process.dispose();
  }
}

const notStarted = (reason: string): CatalogError =>
  new CatalogError(
    'ServiceUnavailable',
    `The language worker did not start: ${reason}.`,
    'Check the setting lanceCatalog.nodePath.',
  );
