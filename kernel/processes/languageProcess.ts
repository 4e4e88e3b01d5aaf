import { CatalogError } from '#shared/errors.ts';
import {
  languageHostChecks,
  type Finding,
  type LanguageHostMethods,
  type LanguageMethods,
} from '#shared/protocol/languageMessages.ts';
import { guarded } from './calls.ts';
import type { NodeRuntime } from './childProcess.ts';
import { waysToStartLanguage, type LanguageWay } from './kernelStart.ts';
import { PipedProcess } from './pipedProcess.ts';

type LanguageStart = {
  /** The worker's bundle, `dist/languageWorker.cjs`. */
  entry: string;
  node: NodeRuntime;
  /** Called with all that there is to say about a cell, when it is not what it was. */
  onFindings: (notebook: string, cell: string, findings: Finding[]) => void;
  signal?: AbortSignal;
};

/** The running language worker of a window. It ends when this process does. */
export class LanguageProcess {
  readonly #process: PipedProcess<LanguageHostMethods, LanguageMethods>;

  /**
   * Starts a worker and waits until it listens.
   * @throws CatalogError ServiceUnavailable (17) when it ends or is silent before that; AbortError when cancelled
   */
  static async start(options: LanguageStart): Promise<LanguageProcess> {
    options.signal?.throwIfAborted();
    let failure: unknown;
    for (const way of waysToStartLanguage(options.node, options.entry)) {
      const worker = new LanguageProcess(options, way);
      try {
        await worker.#process.listening(notStarted, options.signal);
        return worker;
      } catch (error) {
        const hasEnded = worker.#process.end !== undefined;
        worker.dispose();
        failure = error;
        // One that is late is late by another way, too.
        if (!hasEnded || options.signal?.aborted) break;
        way.forget?.();
      }
    }
    throw failure;
  }

  private constructor({ node, onFindings }: LanguageStart, { flags, entry, args }: LanguageWay) {
    this.#process = new PipedProcess({
      node,
      flags,
      entry,
      args,
      handlers: (markReady) => ({
        ready: () => (markReady(), null),
        findings: (params) => {
          if (languageHostChecks.findings(params))
            guarded(() => onFindings(params.notebook, params.cell, params.findings));
          return null;
        },
      }),
    });
  }

  /** The process, for those who measure it. */
  get pid(): number | undefined {
    return this.#process.pid;
  }

  /** @throws RemoteError when the worker is gone, does not know the answer's subject, or `signal` is aborted */
  request<K extends keyof LanguageMethods>(
    method: K,
    params: LanguageMethods[K][0],
    signal?: AbortSignal,
  ): Promise<LanguageMethods[K][1]> {
    return this.#process.request(method, params, signal);
  }

  /** Tells the worker something that nobody waits for. */
  tell<K extends 'cells' | 'text' | 'close' | 'filesChanged'>(method: K, params: LanguageMethods[K][0]): void {
    // Fails only when the worker has ended, which `onDidExit` tells.
    this.#process.request(method, params).catch(() => {});
  }

  /** Called once with the reason when the worker has ended, at once if it has. */
  onDidExit(listener: (reason: string) => void): { dispose(): void } {
    return this.#process.onDidExit(listener);
  }

  /** Goes as a client goes that has crashed; the worker ends of itself then. */
  closePipe(): void {
    this.#process.closePipe();
  }

  /** Ends the worker. */
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
