import type { ChildProcess } from 'node:child_process';
import type { Duplex } from 'node:stream';
import { encodeFrame, readFrames } from '#shared/protocol/frames.ts';
import { Endpoint, type Handlers, type Methods } from '#shared/protocol/rpc.ts';
import { cancellable, callListener } from './calls.ts';
import { startNode, type NodeRuntime } from './childProcess.ts';
import { exitReason, readTail } from './exitReason.ts';

const startMilliseconds = 20_000;
/** How long after the end of the pipe to wait for the exit, which has the reason. */
const exitMilliseconds = 200;

type PipedStart<Mine extends Methods> = {
  readonly node: NodeRuntime;
  readonly flags?: readonly string[];
  readonly entry: string;
  readonly args?: readonly string[];
  /** Variables for the child process, in addition to the environment of this process. */
  readonly env?: Record<string, string> | undefined;
  /** Handlers for requests of the process. One of them has to call `markReady`. */
  readonly handlers: (markReady: () => void) => Handlers<Mine>;
};

/**
 * A bundle of this product in a child process that is called over a pipe (file descriptor 3). The child process ends
 * with this process.
 */
export class PipedProcess<Mine extends Methods, Theirs extends Methods> {
  readonly #child: ChildProcess;
  readonly #pipe: Duplex;
  readonly #endpoint: Endpoint<Mine, Theirs>;
  readonly #ready: Promise<void>;
  readonly #listeners = new Set<(reason: string) => void>();
  #end: string | undefined;
  #markReady: (() => void) | undefined;

  constructor({ handlers, env, ...start }: PipedStart<Mine>) {
    this.#child = startNode({ ...start, ...(env && { env }), stdio: ['ignore', 'ignore', 'pipe', 'pipe'] });
    this.#pipe = this.#child.stdio[3] as Duplex;
    const stderr = readTail(this.#child.stderr);
    this.#ready = new Promise((resolve) => (this.#markReady = resolve));
    this.#endpoint = new Endpoint(
      (frame) => {
        if (this.#end === undefined) this.#pipe.write(encodeFrame(frame));
      },
      handlers(() => this.#markReady?.()),
    );
    readFrames(
      this.#pipe,
      (message) => void this.#endpoint.receive(message),
      () => this.#child.kill('SIGKILL'),
    );
    // The error is ignored, because 'close' and 'exit' follow and have the reason.
    this.#pipe.on('error', () => {});
    this.#child.on('error', (error) => this.#ended(error.message));
    this.#child.on('exit', (code, killed) => this.#ended(exitReason(code, killed, stderr())));
    this.#pipe.on('close', () => setTimeout(() => this.#ended('its pipe closed'), exitMilliseconds));
  }

  /**
   * Waits until the process is ready.
   * @param notStarted creates the error if the child process ends or does not report in time
   * @throws that error; AbortError if cancelled
   */
  async listening(notStarted: (reason: string) => Error, signal: AbortSignal | undefined): Promise<void> {
    const late = AbortSignal.timeout(startMilliseconds);
    const ended = new Promise<never>((_, reject) => {
      this.onDidExit((reason) => reject(notStarted(reason)));
    });
    try {
      await cancellable(Promise.race([this.#ready, ended]), signal ? AbortSignal.any([signal, late]) : late);
    } catch (error) {
      signal?.throwIfAborted();
      throw late.aborted ? notStarted(`it did not report within ${startMilliseconds / 1000} s`) : error;
    }
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  /** The reason why the process has ended, if it has. */
  get end(): string | undefined {
    return this.#end;
  }

  /** @throws RemoteError of the process, or if it has ended or `signal` is aborted */
  request<K extends keyof Theirs & string>(
    method: K,
    params: Theirs[K][0],
    signal?: AbortSignal,
  ): Promise<Theirs[K][1]> {
    return this.#endpoint.request(method, params, signal);
  }

  /** Called once with the reason when the process has ended, or immediately if it has ended. */
  onDidExit(listener: (reason: string) => void): { dispose(): void } {
    if (this.#end !== undefined) listener(this.#end);
    else this.#listeners.add(listener);
    return { dispose: () => void this.#listeners.delete(listener) };
  }

  /** Closes the pipe as a crash of this process would. The child process then ends by itself. */
  closePipe(): void {
    this.#pipe.destroy();
  }

  /** Ends the process without calling exit listeners. */
  dispose(): void {
    this.#listeners.clear();
    this.#ended('it was stopped by this process');
    this.#pipe.destroy();
    this.#child.kill('SIGKILL');
  }

  #ended(reason: string): void {
    if (this.#end !== undefined) return;
    this.#end = reason;
    this.#endpoint.close();
    for (const listener of this.#listeners) callListener(() => listener(reason));
    this.#listeners.clear();
  }
}
