import type { ChildProcess } from 'node:child_process';
import type { Duplex } from 'node:stream';
import { CatalogError } from '#shared/errors.ts';
import { encodeFrame, frameDecoder } from '#shared/frames.ts';
import {
  languageHostChecks,
  type Finding,
  type LanguageHostMethods,
  type LanguageMethods,
} from '#shared/languageMessages.ts';
import { Endpoint, type Handlers } from '#shared/rpc.ts';
import { cancellable, guarded } from './calls.ts';
import { startNode, type NodeRuntime } from './childProcess.ts';
import { exitReason, tailOf } from './exitReason.ts';
import { waysToStartLanguage, type LanguageWay } from './kernelStart.ts';

const startMilliseconds = 20_000;
/** How long the end of the process waits to be told of, after that of its pipe. */
const exitMilliseconds = 200;

export type LanguageStart = {
  /** The worker's bundle, `dist/languageWorker.cjs`. */
  entry: string;
  node: NodeRuntime;
  /** Called with all that there is to say about a cell, when it is not what it was. */
  onFindings: (notebook: string, cell: string, findings: Finding[]) => void;
  signal?: AbortSignal;
};

/** The running language worker of a window. It ends when this process does. */
export class LanguageProcess {
  readonly #child: ChildProcess;
  readonly #pipe: Duplex;
  readonly #endpoint: Endpoint<LanguageHostMethods, LanguageMethods>;
  readonly #listeners = new Set<(reason: string) => void>();
  #end: string | undefined;
  #markReady: (() => void) | undefined;

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
        return await worker.#listening(options.signal);
      } catch (error) {
        const hasEnded = worker.#end !== undefined;
        worker.dispose();
        failure = error;
        // One that is late is late by another way, too.
        if (!hasEnded || options.signal?.aborted) break;
        way.forget?.();
      }
    }
    throw failure;
  }

  async #listening(signal: AbortSignal | undefined): Promise<this> {
    const late = AbortSignal.timeout(startMilliseconds);
    const ready = new Promise<void>((resolve) => (this.#markReady = resolve));
    const ended = new Promise<never>((_, reject) => {
      this.onDidExit((reason) => reject(unavailable(reason)));
    });
    try {
      await cancellable(Promise.race([ready, ended]), signal ? AbortSignal.any([signal, late]) : late);
      return this;
    } catch (error) {
      signal?.throwIfAborted();
      throw late.aborted ? unavailable(`it said nothing for ${startMilliseconds / 1000} s`) : error;
    }
  }

  private constructor({ node, onFindings }: LanguageStart, { flags, entry, args }: LanguageWay) {
    this.#child = startNode({ node, flags, entry, args, stdio: ['ignore', 'ignore', 'pipe', 'pipe'] });
    this.#pipe = this.#child.stdio[3] as Duplex;
    const stderr = tailOf(this.#child.stderr);
    const handlers: Handlers<LanguageHostMethods> = {
      ready: () => {
        this.#markReady?.();
        return null;
      },
      findings: (params) => {
        if (languageHostChecks.findings(params))
          guarded(() => onFindings(params.notebook, params.cell, params.findings));
        return null;
      },
    };
    this.#endpoint = new Endpoint((frame) => {
      if (this.#end === undefined) this.#pipe.write(encodeFrame(frame));
    }, handlers);
    const decode = frameDecoder((message) => void this.#endpoint.receive(message));
    this.#pipe.on('data', (chunk: Uint8Array) => {
      try {
        decode(chunk);
      } catch {
        // Nothing that follows a broken frame can be read.
        this.#child.kill('SIGKILL');
      }
    });
    // 'close' and 'exit' follow, and say more.
    this.#pipe.on('error', () => {});
    this.#child.on('error', (error) => this.#ended(error.message));
    this.#child.on('exit', (code, killed) => this.#ended(exitReason(code, killed, stderr())));
    this.#pipe.on('close', () => setTimeout(() => this.#ended('its pipe closed'), exitMilliseconds));
  }

  /** The process, for those who measure it. */
  get pid(): number | undefined {
    return this.#child.pid;
  }

  /** @throws RemoteError when the worker is gone, does not know the answer's subject, or `signal` is aborted */
  request<K extends keyof LanguageMethods>(
    method: K,
    params: LanguageMethods[K][0],
    signal?: AbortSignal,
  ): Promise<LanguageMethods[K][1]> {
    return this.#endpoint.request(method, params, signal);
  }

  /** Tells the worker something that nobody waits for. */
  tell<K extends 'cells' | 'text' | 'close' | 'filesChanged'>(method: K, params: LanguageMethods[K][0]): void {
    // Fails only when the worker has ended, which `onDidExit` tells.
    this.#endpoint.request(method, params).catch(() => {});
  }

  /** Called once with the reason when the worker has ended, at once if it has. */
  onDidExit(listener: (reason: string) => void): { dispose(): void } {
    if (this.#end !== undefined) listener(this.#end);
    else this.#listeners.add(listener);
    return { dispose: () => void this.#listeners.delete(listener) };
  }

  /** Goes as a client goes that has crashed; the worker ends of itself then. */
  closePipe(): void {
    this.#pipe.destroy();
  }

  /** Ends the worker. */
  dispose(): void {
    this.#listeners.clear();
    this.#ended('it was told to');
    this.#pipe.destroy();
    this.#child.kill('SIGKILL');
  }

  #ended(reason: string): void {
    if (this.#end !== undefined) return;
    this.#end = reason;
    this.#endpoint.close();
    for (const listener of this.#listeners) guarded(() => listener(reason));
    this.#listeners.clear();
  }
}

const unavailable = (reason: string): CatalogError =>
  new CatalogError(
    'ServiceUnavailable',
    `The language worker did not start: ${reason}.`,
    'Check the setting lanceCatalog.nodePath.',
  );
