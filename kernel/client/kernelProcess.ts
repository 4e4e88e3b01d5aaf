import type { ChildProcess } from 'node:child_process';
import type { Duplex } from 'node:stream';
import type { CatalogConfig } from '#shared/catalogConfig.ts';
import { CatalogError } from '#shared/errors.ts';
import { encodeFrame, frameDecoder } from '#shared/frames.ts';
import {
  isKernelMessage,
  isKernelOutput,
  type ExecuteReply,
  type KernelHandshake,
  type KernelMessage,
  type KernelOutput,
  type KernelReply,
  type KernelRequest,
} from '#shared/kernelMessages.ts';
import { cancellable, guarded } from './calls.ts';
import { startNode, type NodeRuntime } from './childProcess.ts';
import { exitReason, tailOf } from './exitReason.ts';
import { kernelFlags } from './nodeVersion.ts';

/** How Node ends over a flag that it does not know, as an embedder's may. */
const badOptionExit = 9;
const handshakeMs = 20_000;
/** How long the end of the process and that of its pipe wait for each other. */
const exitMs = 200;

export type KernelStart = {
  /** The kernel's bundle, `dist/kernel.cjs`. */
  entry: string;
  node: NodeRuntime;
  /** The notebook's folder: relative paths and imports of cells start here. */
  cwd: string;
  /** Which catalog `db` is; null for none. */
  catalog: CatalogConfig | null;
  env?: Record<string, string>;
  signal?: AbortSignal;
};

export type KernelExit = {
  /** Whether `shutdown()` or `dispose()` was called before. */
  isExpected: boolean;
  /** One sentence: the exit code or signal, and the last line of stderr where there is one. */
  reason: string;
};

type Replies = { [M in KernelReply as M['type']]: M['content'] };
type Requests = { [M in KernelRequest as M['type']]: M['content'] };
type Pending = {
  reply: KernelReply['type'];
  resolve(content: unknown): void;
  reject(error: Error): void;
  onOutput?: (output: KernelOutput) => void;
};

/** A running kernel over a framed pipe. One client owns it; when that client goes, the kernel ends. */
export class KernelProcess {
  readonly #child: ChildProcess;
  readonly #pipe: Duplex;
  readonly #stderr: () => string;
  readonly #pending = new Map<string, Pending>();
  readonly #orphanListeners = new Set<(output: KernelOutput) => void>();
  readonly #exitListeners = new Set<(exit: KernelExit) => void>();
  #exit: KernelExit | undefined;
  #isEnding = false;
  #next = 0;
  #handshake: KernelHandshake | undefined;

  /**
   * Starts a kernel and waits for its handshake.
   * @throws CatalogError ServiceUnavailable (17) when it ends or is silent before that; AbortError when cancelled
   */
  static async start(options: KernelStart): Promise<KernelProcess> {
    const { catalog, signal } = options;
    signal?.throwIfAborted();
    const first = new KernelProcess(options, kernelFlags(options.node.version));
    try {
      return await first.#begin(catalog, signal);
    } catch (error) {
      if (first.#child.exitCode !== badOptionExit) throw error;
      // This Node refuses the flag. Cells run without it; the handshake says that they can't be interrupted.
      return new KernelProcess(options, []).#begin(catalog, signal);
    }
  }

  private constructor({ entry, node, cwd, env }: KernelStart, flags: readonly string[]) {
    this.#child = startNode({
      node,
      flags,
      entry,
      args: ['--pipe'],
      cwd,
      ...(env && { env }),
      stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
    });
    this.#pipe = this.#child.stdio[3] as Duplex;
    // Whatever native code prints must be read, or the kernel stops at a full pipe.
    this.#child.stdout?.resume();
    this.#stderr = tailOf(this.#child.stderr);
    this.#child.on('error', (error) => this.#ended(error.message));
    // The pipe may close before the exit is known, which says why; and the exit come before the last output is read.
    const closed = new Promise((resolve) => this.#pipe.once('close', resolve));
    const exited = new Promise((resolve) => this.#child.once('exit', resolve));
    this.#child.on('exit', (code, killed) => {
      void soon(closed).then(() => this.#ended(exitReason(code, killed, this.#stderr())));
    });
    void closed.then(() => soon(exited)).then(() => this.#ended('its pipe closed'));
    const decode = frameDecoder((message) => this.#receive(message));
    this.#pipe.on('data', (chunk: Uint8Array) => {
      try {
        decode(chunk);
      } catch {
        // Only framing fails here, listeners are guarded: nothing that follows a broken frame can be read.
        this.#child.kill('SIGKILL');
      }
    });
    // 'close' and 'exit' follow, and say more.
    this.#pipe.on('error', () => {});
  }

  /** What the kernel found of itself when it started. */
  get handshake(): KernelHandshake {
    if (!this.#handshake) throw new Error('KernelProcess.start gives a kernel whose handshake is known.');
    return this.#handshake;
  }

  get isAlive(): boolean {
    return this.#exit === undefined;
  }

  /**
   * Runs code as one cell, after those sent before. `onOutput` gets its outputs in order until the reply.
   * Aborting `signal` interrupts the running cell and drops the waiting ones.
   * @throws CatalogError ServiceUnavailable (17) when the kernel ends before it replies; what `onOutput` threw first,
   * once the cell is done
   */
  async execute(
    code: string,
    onOutput: (output: KernelOutput) => void,
    options: { signal?: AbortSignal; silent?: boolean } = {},
  ): Promise<ExecuteReply> {
    const { signal, silent = false } = options;
    signal?.throwIfAborted();
    const onAbort = () => void this.interrupt().catch(() => {});
    signal?.addEventListener('abort', onAbort, { once: true });
    const failed: unknown[] = [];
    const take = (output: KernelOutput) => {
      try {
        onOutput(output);
      } catch (error) {
        failed.push(error);
      }
    };
    try {
      const reply = await this.#request('execute_request', { code, silent }, 'execute_reply', take);
      if (failed.length > 0) throw failed[0];
      return reply;
    } finally {
      signal?.removeEventListener('abort', onAbort);
    }
  }

  /** Completions at a position in UTF-16 units. Waits while a cell runs without a pause. */
  complete(code: string, cursorPos: number, signal?: AbortSignal): Promise<Replies['complete_reply']> {
    return cancellable(this.#request('complete_request', { code, cursorPos }, 'complete_reply'), signal);
  }

  /** What is at a position, as text. */
  inspect(code: string, cursorPos: number, signal?: AbortSignal): Promise<Replies['inspect_reply']> {
    return cancellable(this.#request('inspect_request', { code, cursorPos }, 'inspect_reply'), signal);
  }

  isComplete(code: string, signal?: AbortSignal): Promise<Replies['is_complete_reply']> {
    return cancellable(this.#request('is_complete_request', { code }, 'is_complete_reply'), signal);
  }

  /** Ends the running cell and drops the waiting ones. `failed` when the cell goes on: then only a restart helps. */
  interrupt(): Promise<Replies['interrupt_reply']> {
    return this.#request('interrupt_request', {}, 'interrupt_reply');
  }

  /** Ends the kernel and waits until its process is gone. */
  async shutdown(): Promise<void> {
    if (this.#exit) return;
    this.#isEnding = true;
    const gone = new Promise<void>((resolve) => this.#exitListeners.add(() => resolve()));
    const last = setTimeout(() => this.#child.kill('SIGKILL'), 3000);
    // The pipe may break before the reply is through; the exit is what counts.
    this.#request('shutdown_request', {}, 'shutdown_reply').catch(() => {});
    await gone;
    clearTimeout(last);
  }

  /** Output that came when its cell was not running (`parent` is the id of that execution, '' when unknown). */
  onOrphanOutput(listener: (output: KernelOutput) => void): { dispose(): void } {
    this.#orphanListeners.add(listener);
    return { dispose: () => void this.#orphanListeners.delete(listener) };
  }

  /** Called once, at once if the kernel is gone already. */
  onDidExit(listener: (exit: KernelExit) => void): { dispose(): void } {
    if (this.#exit) listener(this.#exit);
    else this.#exitListeners.add(listener);
    return { dispose: () => void this.#exitListeners.delete(listener) };
  }

  /** Ends the kernel without waiting. */
  dispose(): void {
    this.#isEnding = true;
    this.#pipe.destroy();
    this.#child.kill('SIGKILL');
  }

  async #begin(catalog: CatalogConfig | null, signal: AbortSignal | undefined): Promise<this> {
    const timer = AbortSignal.timeout(handshakeMs);
    const request = this.#request('start', { catalog }, 'start_reply');
    try {
      this.#handshake = await cancellable(request, signal ? AbortSignal.any([signal, timer]) : timer);
      return this;
    } catch (cause) {
      this.dispose();
      signal?.throwIfAborted();
      if (!timer.aborted) throw cause;
      const what = `The kernel did not answer within ${handshakeMs / 1000} s.`;
      throw new CatalogError('ServiceUnavailable', what, 'Try again; the machine may be busy.', { cause });
    }
  }

  #request<Q extends KernelRequest['type'], R extends KernelReply['type']>(
    type: Q,
    content: Requests[Q],
    reply: R,
    onOutput?: (output: KernelOutput) => void,
  ): Promise<Replies[R]> {
    if (this.#exit) return Promise.reject(goneError(this.#exit.reason));
    const id = `${type}-${++this.#next}`;
    const frame = encodeFrame({ type, id, content });
    return new Promise((resolve, reject) => {
      this.#pending.set(id, {
        reply,
        resolve: (value) => resolve(value as Replies[R]),
        reject,
        ...(onOutput && { onOutput }),
      });
      this.#pipe.write(frame);
    });
  }

  #receive(value: unknown): void {
    if (!isKernelMessage(value)) return;
    const message: KernelMessage = value;
    const pending = this.#pending.get(message.parent);
    if (isKernelOutput(message)) {
      if (pending?.onOutput) return pending.onOutput(message);
      // 'idle' comes after the reply; nobody waits for it.
      if (message.type !== 'status') for (const listener of this.#orphanListeners) guarded(() => listener(message));
      return;
    }
    if (!pending) return;
    this.#pending.delete(message.parent);
    if (message.type === pending.reply) pending.resolve(message.content);
    else
      pending.reject(
        new CatalogError(
          'Internal',
          message.type === 'error_reply' ? message.content.message : `The kernel answered with "${message.type}".`,
          'Restart the kernel.',
        ),
      );
  }

  #ended(reason: string): void {
    if (this.#exit) return;
    this.#exit = { isExpected: this.#isEnding, reason: `The kernel has ended: ${reason}.` };
    for (const pending of this.#pending.values()) pending.reject(goneError(this.#exit.reason));
    this.#pending.clear();
    const exit = this.#exit;
    for (const listener of this.#exitListeners) guarded(() => listener(exit));
    this.#exitListeners.clear();
  }
}

/** Waits for something that should happen any moment. */
const soon = (event: Promise<unknown>): Promise<unknown> =>
  Promise.race([event, new Promise((resolve) => setTimeout(resolve, exitMs))]);

const goneError = (reason: string): CatalogError =>
  new CatalogError('ServiceUnavailable', reason, 'Run the cell again to start a new kernel.');
