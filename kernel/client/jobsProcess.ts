import type { ChildProcess } from 'node:child_process';
import type { Duplex } from 'node:stream';
import { CatalogError, catalogErrorCodes, type CatalogErrorKind } from '#shared/errors.ts';
import { encodeFrame, frameDecoder } from '#shared/frames.ts';
import { jobsHostChecks } from '#shared/jobs/jobChecks.ts';
import { isJobErrorKind, JobError } from '#shared/jobs/jobErrors.ts';
import type { JobsHostMethods, JobsMethods } from '#shared/jobs/jobMessages.ts';
import type { JobView } from '#shared/jobs/jobView.ts';
import { Endpoint, RemoteError, type Handlers } from '#shared/rpc.ts';
import { cancellable, guarded } from './calls.ts';
import { startNode, type NodeRuntime } from './childProcess.ts';
import { exitReason, tailOf } from './exitReason.ts';

const startMilliseconds = 20_000;
/** How long the end of the process waits to be told of, after that of its pipe. */
const exitMilliseconds = 200;

export type JobsStart = {
  /** The bundle, `dist/jobs.cjs`. */
  entry: string;
  node: NodeRuntime;
  /** Called with jobs that are new or changed and ids of those removed, once `watch` was asked for. */
  onChanged: (changed: readonly JobView[], removed: readonly string[]) => void;
  /** Beside the environment of this process; jobs inherit it. */
  env?: Record<string, string> | undefined;
  signal?: AbortSignal | undefined;
};

/**
 * The process that knows backfills, one for a window: it plans and tries them, starts jobs and watches their records. It
 * ends when this process does; jobs go on.
 */
export class JobsProcess {
  readonly #child: ChildProcess;
  readonly #pipe: Duplex;
  readonly #endpoint: Endpoint<JobsHostMethods, JobsMethods>;
  readonly #listeners = new Set<(reason: string) => void>();
  #end: string | undefined;
  #markReady: (() => void) | undefined;

  /**
   * Starts the process and waits until it listens.
   * @throws CatalogError ServiceUnavailable (17) when it ends or is silent before that; AbortError when cancelled
   */
  static async start(options: JobsStart): Promise<JobsProcess> {
    options.signal?.throwIfAborted();
    const started = new JobsProcess(options);
    try {
      return await started.#listening(options.signal);
    } catch (error) {
      started.dispose();
      throw error;
    }
  }

  private constructor({ node, entry, env, onChanged }: JobsStart) {
    this.#child = startNode({ node, entry, ...(env && { env }), stdio: ['ignore', 'ignore', 'pipe', 'pipe'] });
    this.#pipe = this.#child.stdio[3] as Duplex;
    const stderr = tailOf(this.#child.stderr);
    const handlers: Handlers<JobsHostMethods> = {
      ready: () => {
        this.#markReady?.();
        return null;
      },
      jobsChanged: (params) => {
        if (jobsHostChecks.jobsChanged(params)) guarded(() => onChanged(params.changed, params.removed));
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

  async #listening(signal: AbortSignal | undefined): Promise<this> {
    const late = AbortSignal.timeout(startMilliseconds);
    const ready = new Promise<void>((resolve) => (this.#markReady = resolve));
    const ended = new Promise<never>((_, reject) => {
      this.onDidExit((reason) => reject(unavailable('did not start', reason)));
    });
    try {
      await cancellable(Promise.race([ready, ended]), signal ? AbortSignal.any([signal, late]) : late);
      return this;
    } catch (error) {
      signal?.throwIfAborted();
      throw late.aborted ? unavailable('did not start', `it said nothing for ${startMilliseconds / 1000} s`) : error;
    }
  }

  /** The process, for those who measure it. */
  get pid(): number | undefined {
    return this.#child.pid;
  }

  /**
   * Asks for something.
   * @throws JobError or CatalogError as the method says; CatalogError ServiceUnavailable (17) when the process is gone;
   * AbortError when `signal` is aborted
   */
  async request<K extends keyof JobsMethods>(
    method: K,
    params: JobsMethods[K][0],
    signal?: AbortSignal,
  ): Promise<JobsMethods[K][1]> {
    try {
      return await this.#endpoint.request(method, params, signal);
    } catch (error) {
      throw error instanceof RemoteError ? this.#failureOf(error) : error;
    }
  }

  /** Called once with the reason when the process has ended, at once if it has. */
  onDidExit(listener: (reason: string) => void): { dispose(): void } {
    if (this.#end !== undefined) listener(this.#end);
    else this.#listeners.add(listener);
    return { dispose: () => void this.#listeners.delete(listener) };
  }

  /** Ends the process; no job with it. */
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

  /** The failure as it was thrown on the other side, whose class does not cross a pipe. Its message has the hint in it. */
  #failureOf(error: RemoteError): Error {
    const { code, message } = error;
    if (code === 'closed') return unavailable('has ended', this.#end ?? 'its pipe closed');
    // What both know, such as Internal, is a job's here.
    if (isJobErrorKind(code)) return new JobError(code, message, '', { cause: error });
    if (isCatalogErrorKind(code)) return new CatalogError(code, message, '', { cause: error });
    return error;
  }
}

const isCatalogErrorKind = (code: string): code is CatalogErrorKind => Object.hasOwn(catalogErrorCodes, code);

const unavailable = (what: string, reason: string): CatalogError =>
  new CatalogError(
    'ServiceUnavailable',
    `The process that knows backfills ${what}: ${reason}.`,
    'Check the setting lanceCatalog.nodePath.',
  );
