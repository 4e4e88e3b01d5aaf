import { readFile, rm } from 'node:fs/promises';
import type { CatalogConfig } from '#shared/catalogConfig.ts';
import { CatalogError } from '#shared/errors.ts';
import { crashReason, crashReport, isCrashNote } from '#shared/protocol/crashNote.ts';
import type { DebugEvent, DebugRequest, DebugResponse } from '#shared/protocol/debugMessages.ts';
import type {
  CellPlace,
  CellSettings,
  ExecuteReply,
  KeepKernel,
  KernelHandshake,
  KernelOutput,
  KernelRun,
  VariableList,
} from '#shared/protocol/kernelMessages.ts';
import {
  isOutputTable,
  type OutputRowsRequest,
  type OutputTable,
  type OutputTableRequest,
} from '#shared/protocol/outputTables.ts';
import type { PicturePlace } from '#shared/protocol/pictureMessages.ts';
import { cancellable, callListener } from './calls.ts';
import type { NodeRuntime } from './childProcess.ts';
import { type ClientHandlers, KernelConversation, type Replies } from './kernelConversation.ts';
import { type KernelLink, openLink, removeKept, startLink } from './kernelLink.ts';
import { waitForHandshake, startStrategies } from './kernelStart.ts';

/**
 * Describes why a kernel has ended and which data was lost, in one or more sentences. Removes the kernel's crash
 * note, so that it is reported once.
 * @param reason the reason known from outside: `killed by SIGKILL`
 * @param path location of the kernel's note; undefined if the kernel ended before it reported the location
 */
async function describeKernelExit(reason: string, path: string | undefined): Promise<string> {
  const plain = `The kernel has ended: ${reason}.`;
  if (path === undefined) return plain;
  try {
    const note: unknown = JSON.parse(await readFile(path, 'utf8'));
    if (!isCrashNote(note)) return plain;
    const guess = reason.includes('memory') ? '' : crashReason(note);
    return `The kernel has ended: ${reason}${guess && `; ${guess}`}. ${crashReport(note)}`;
  } catch {
    // The kernel ended normally, or before its first cell, so nothing is lost.
    return plain;
  } finally {
    await rm(path, { force: true }).catch(() => undefined);
  }
}

/** Buffers the outputs of a run until a listener is set, and collects the errors of that listener. */
type Handover = {
  readonly take: (output: KernelOutput) => void;
  readonly give: (listener: (output: KernelOutput) => void) => void;
  readonly failed: readonly unknown[];
};

function createOutputBuffer(): Handover {
  const failed: unknown[] = [];
  let kept: KernelOutput[] = [];
  let listen: ((output: KernelOutput) => void) | undefined;
  const take = (output: KernelOutput): void => {
    if (!listen) return void kept.push(output);
    try {
      listen(output);
    } catch (error) {
      failed.push(error);
    }
  };
  return {
    take,
    give: (listener) => {
      listen = listener;
      const early = kept;
      kept = [];
      early.forEach(take);
    },
    failed,
  };
}

type KernelStart = CellSettings &
  ClientHandlers & {
    /** The kernel's bundle, `dist/kernel.cjs`. */
    entry: string;
    node: NodeRuntime;
    /** The notebook's folder: relative paths and imports of cells start here. */
    cwd: string;
    /** The catalog of `db`; null for none. */
    catalog: CatalogConfig | null;
    /** Set if the kernel is to outlive this client, for `attach`. Otherwise it ends with the client. */
    keep?: KeepKernel;
    env?: Record<string, string>;
    signal?: AbortSignal;
  };

export type KernelExit = {
  /** Whether `shutdown()` or `dispose()` was called before. */
  isExpected: boolean;
  /**
   * Why the kernel has ended, in one or more sentences: the exit code or signal, and the line of stderr with the reason
   * if there is one. After an unexpected end, also which variables were lost, if the kernel left a crash note.
   */
  reason: string;
};

type ExecuteOptions = {
  signal?: AbortSignal;
  /** Whether the kernel sends only the reply and no outputs. */
  silent?: boolean;
  /** False for code that is not the user's. Such code does not increase the execution count. */
  storeHistory?: boolean;
  /** Location of the code in the notebook, so that a later client can show its outputs. */
  cell?: CellPlace;
};

/** An existing kernel, and the runs of its cells since the last client left. */
export type AttachedKernel = { kernel: KernelProcess; executionCount: number; runs: readonly KernelRun[] };

/** A running kernel with this process as its client. */
export class KernelProcess {
  readonly #link: KernelLink;
  readonly #talk: KernelConversation;
  readonly #exitListeners = new Set<(exit: KernelExit) => void>();
  #exit: KernelExit | undefined;
  #isEnding = false;
  #hasLeft = false;
  #handshake: KernelHandshake | undefined;
  /** Runs of an earlier client that continue; their outputs are kept until `resume`. */
  readonly #resumable = new Map<string, { reply: Promise<ExecuteReply>; outputs: Handover }>();

  /**
   * Starts a kernel and waits for its handshake.
   * @throws CatalogError ServiceUnavailable (17) if it ends or does not report in time; AbortError if cancelled
   */
  static async start(options: KernelStart): Promise<KernelProcess> {
    const { node, keep, signal } = options;
    signal?.throwIfAborted();
    for (const { flags, entry, goOn } of startStrategies(node, options.entry)) {
      const link = startLink({ ...options, entry, flags, ...(keep && { folder: keep.folder }) });
      try {
        return await new KernelProcess(link, keep?.folder, options).#begin(options);
      } catch (error) {
        if (signal?.aborted || !goOn(link)) throw error;
      }
    }
    throw new Error("Can't start a kernel: there is no way to start one.");
  }

  /**
   * Attaches to a kernel that was started with `keep` and whose client has left.
   * @throws CatalogError ServiceUnavailable (17) if it has ended, Internal (18) while it has another client
   */
  static async attach(
    folder: string,
    options: ClientHandlers & { signal?: AbortSignal } = {},
  ): Promise<AttachedKernel> {
    const { signal } = options;
    signal?.throwIfAborted();
    const { link, secret } = await openLink(folder);
    const kernel = new KernelProcess(link, folder, options);
    try {
      const { executionCount, runs, ...handshake } = await waitForHandshake(kernel.#attach(secret), signal);
      kernel.#handshake = handshake;
      return { kernel, executionCount, runs };
    } catch (error) {
      kernel.leave();
      throw error;
    }
  }

  private constructor(link: KernelLink, folder: string | undefined, handlers: ClientHandlers) {
    this.#link = link;
    this.#talk = new KernelConversation(link.pipe, handlers, link.kill);
    void this.#watch(link, folder);
  }

  /** The kernel's report about itself at its start. */
  get handshake(): KernelHandshake {
    if (!this.#handshake) throw new Error('The kernel has not sent its handshake yet.');
    return this.#handshake;
  }

  /** Whether this client has left the kernel; the kernel may then still run. */
  get hasLeft(): boolean {
    return this.#hasLeft;
  }

  get isAlive(): boolean {
    return this.#exit === undefined;
  }

  /**
   * Runs code as one cell, after the cells that were sent before. `onOutput` receives its outputs in order until the
   * reply.
   * Aborting `signal` interrupts the running cell and drops the waiting cells.
   * @throws CatalogError ServiceUnavailable (17) if the kernel ends before it replies; the first error of `onOutput`,
   * once the cell has finished
   */
  async execute(
    code: string,
    onOutput: (output: KernelOutput) => void,
    options: ExecuteOptions = {},
  ): Promise<ExecuteReply> {
    const { signal, ...rest } = options;
    signal?.throwIfAborted();
    const outputs = createOutputBuffer();
    outputs.give(onOutput);
    const content = { code, ...rest, ...(this.#talk.canAsk && { allowStdin: true }) };
    return this.#follow(this.#talk.request('execute_request', content, 'execute_reply', outputs), outputs, signal);
  }

  /**
   * Continues a run of an earlier client, by its id: `onOutput` receives its outputs since `attach`.
   * @throws CatalogError InvalidInput (13) for a run that has ended; otherwise as `execute`
   */
  async resume(id: string, onOutput: (output: KernelOutput) => void): Promise<ExecuteReply> {
    const run = this.#resumable.get(id);
    if (!run)
      throw new CatalogError(
        'InvalidInput',
        `Can't continue the cell: its run "${id}" has ended.`,
        'Run the cell again.',
      );
    this.#resumable.delete(id);
    run.outputs.give(onOutput);
    return this.#follow(run.reply, run.outputs, undefined);
  }

  /** Completions at a position in UTF-16 units. Waits while a cell runs without a pause. */
  complete(code: string, cursorPos: number, signal?: AbortSignal): Promise<Replies['complete_reply']> {
    return cancellable(this.#talk.request('complete_request', { code, cursorPos }, 'complete_reply'), signal);
  }

  /** A description of the symbol at a position. */
  inspect(code: string, cursorPos: number, signal?: AbortSignal): Promise<Replies['inspect_reply']> {
    return cancellable(this.#talk.request('inspect_request', { code, cursorPos }, 'inspect_reply'), signal);
  }

  isComplete(code: string, signal?: AbortSignal): Promise<Replies['is_complete_reply']> {
    return cancellable(this.#talk.request('is_complete_request', { code }, 'is_complete_reply'), signal);
  }

  /** The notebook's variables. Waits while a cell runs without a pause. */
  variables(signal?: AbortSignal): Promise<VariableList> {
    return cancellable(this.#talk.request('variables_request', {}, 'variables_reply'), signal);
  }

  /** An image in base64 of which an output has a thumbnail; null if the kernel no longer has it. */
  async picture(place: PicturePlace, signal?: AbortSignal): Promise<string | null> {
    return (await cancellable(this.#talk.request('picture_request', place, 'picture_reply'), signal)).image;
  }

  /** The table of an output; null if the kernel no longer has it. Waits while a cell runs without a pause. */
  async outputTable(request: OutputTableRequest, signal?: AbortSignal): Promise<OutputTable | null> {
    const { table } = await cancellable(this.#talk.request('table_request', request, 'table_reply'), signal);
    return isOutputTable(table) ? table : null;
  }

  /** Rows of the table of an output as an Arrow stream; null if the kernel no longer has them. */
  async outputRows(request: OutputRowsRequest, signal?: AbortSignal): Promise<Uint8Array | null> {
    const { rows } = await cancellable(this.#talk.request('rows_request', request, 'rows_reply'), signal);
    return rows === null ? null : Buffer.from(rows, 'base64');
  }

  /**
   * Sends a request to the kernel's debugger, also while a cell runs or is paused. `atOnce` receives the response
   * before any later event.
   */
  debug(request: DebugRequest, atOnce: (response: DebugResponse) => void): Promise<DebugResponse> {
    return this.#talk.request('debug_request', request, 'debug_reply', { atOnce });
  }

  onDebugEvent(listener: (event: DebugEvent) => void): { dispose(): void } {
    return this.#talk.onDebugEvent(listener);
  }

  /**
   * Interrupts the running cell and drops the waiting cells. The status is `failed` if the cell continues. Then only a
   * restart helps.
   */
  interrupt(): Promise<Replies['interrupt_reply']> {
    return this.#talk.request('interrupt_request', {}, 'interrupt_reply');
  }

  /** Ends the kernel and waits until its process has ended. */
  async shutdown(): Promise<void> {
    if (this.#exit) return;
    this.#isEnding = true;
    const gone = new Promise<void>((resolve) => this.#exitListeners.add(() => resolve()));
    const last = setTimeout(() => this.#link.kill(), 3000);
    // The error is ignored, because the pipe may break before the reply arrives, and only the exit matters.
    this.#talk.request('shutdown_request', {}, 'shutdown_reply').catch(() => {});
    await gone;
    clearTimeout(last);
  }

  /**
   * Called with output that arrives after its cell has ended. `parent` is the id of the cell's execution, '' if
   * unknown.
   */
  onOrphanOutput(listener: (output: KernelOutput) => void): { dispose(): void } {
    return this.#talk.onOrphanOutput(listener);
  }

  /** Called once when the kernel ends, or immediately if it has ended. */
  onDidExit(listener: (exit: KernelExit) => void): { dispose(): void } {
    if (this.#exit) listener(this.#exit);
    else this.#exitListeners.add(listener);
    return { dispose: () => void this.#exitListeners.delete(listener) };
  }

  /** Disconnects. A kernel that was started with `keep` waits for another client; any other kernel ends. */
  leave(): void {
    this.#isEnding = true;
    this.#hasLeft = true;
    this.#link.pipe.destroy();
  }

  /** Ends the kernel without waiting. */
  dispose(): void {
    this.#isEnding = true;
    this.#link.pipe.destroy();
    this.#link.kill();
  }

  async #begin({ catalog, typeCheck, language, keep, view, signal }: KernelStart): Promise<this> {
    const settings = { ...(typeCheck && { typeCheck }), ...(language && { language }) };
    const content = { catalog, ...settings, ...(keep && { keep }), ...(view && { hasPanels: true }) };
    try {
      this.#handshake = await waitForHandshake(this.#talk.request('start', content, 'start_reply'), signal);
      return this;
    } catch (error) {
      this.dispose();
      throw error;
    }
  }

  #attach(secret: string): Promise<Replies['attach_reply']> {
    // The runs are registered immediately, because their outputs may arrive in the same chunk as the reply.
    const atOnce = ({ runs }: Replies['attach_reply']) => runs.forEach((run) => this.#expect(run));
    return this.#talk.request('attach', { secret }, 'attach_reply', { atOnce });
  }

  #expect({ id, ended }: KernelRun): void {
    if (ended) return;
    const outputs = createOutputBuffer();
    const reply = this.#talk.expect(id, 'execute_reply', outputs.take);
    // The failure is reported by `resume`; before that it must not be an unhandled rejection.
    reply.catch(() => undefined);
    this.#resumable.set(id, { reply, outputs });
  }

  /**
   * Waits for the reply of a run. Aborting `signal` interrupts the run. After the reply, the first error of the output
   * listener is thrown.
   */
  async #follow(
    reply: Promise<ExecuteReply>,
    outputs: Handover,
    signal: AbortSignal | undefined,
  ): Promise<ExecuteReply> {
    const onAbort = () => void this.interrupt().catch(() => {});
    signal?.addEventListener('abort', onAbort, { once: true });
    try {
      const given = await reply;
      if (outputs.failed.length > 0) throw outputs.failed[0];
      return given;
    } finally {
      signal?.removeEventListener('abort', onAbort);
    }
  }

  async #watch(link: KernelLink, folder: string | undefined): Promise<void> {
    const reason = await link.ended;
    // If the process still runs, a cell has closed the pipe. Without the pipe no client can reach or end the kernel, so
    // the kernel is killed.
    if (!this.#hasLeft && link.runs()) link.kill();
    // The files are removed before another kernel starts in this folder. If this client left, the kernel may still run
    // and needs its files.
    if (folder !== undefined && !this.#hasLeft) await removeKept(folder).catch(() => undefined);
    // After `leave` the reason for the end is not known here.
    const note = this.#hasLeft ? undefined : this.#handshake?.crashNote;
    const said = await describeKernelExit(reason, note);
    const exit = { isExpected: this.#isEnding, reason: this.#isEnding ? `The kernel has ended: ${reason}.` : said };
    this.#exit = exit;
    const next = 'Run the cell again to start a new kernel.';
    this.#talk.end(new CatalogError('ServiceUnavailable', exit.reason, next));
    for (const listener of this.#exitListeners) callListener(() => listener(exit));
    this.#exitListeners.clear();
  }
}
