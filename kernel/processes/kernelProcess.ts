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
import { cancellable, guarded } from './calls.ts';
import type { NodeRuntime } from './childProcess.ts';
import { type AskPerson, KernelConversation, type Replies } from './kernelConversation.ts';
import { type KernelLink, openLink, removeKept, startLink } from './kernelLink.ts';
import { answered, waysToStart } from './kernelStart.ts';

/**
 * Says why a kernel has ended and what was lost with it: one sentence or more. The kernel's crash note is removed, so that
 * it is told once.
 * @param reason what is known from outside: `killed by SIGKILL`
 * @param path where the kernel keeps its note; undefined when it ended before it said so
 */
async function describeEnd(reason: string, path: string | undefined): Promise<string> {
  const plain = `The kernel has ended: ${reason}.`;
  if (path === undefined) return plain;
  try {
    const note: unknown = JSON.parse(await readFile(path, 'utf8'));
    if (!isCrashNote(note)) return plain;
    const guess = reason.includes('memory') ? '' : crashReason(note);
    return `The kernel has ended: ${reason}${guess && `; ${guess}`}. ${crashReport(note)}`;
  } catch {
    // It ended in order, or before its first cell: nothing is lost.
    return plain;
  } finally {
    await rm(path, { force: true }).catch(() => undefined);
  }
}

/** Takes the outputs of a run, keeps them until somebody wants them, and what that one's listener throws. */
type Handover = {
  readonly take: (output: KernelOutput) => void;
  readonly give: (listener: (output: KernelOutput) => void) => void;
  readonly failed: readonly unknown[];
};

/** A handover that nobody has taken yet. */
function handover(): Handover {
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

type KernelStart = CellSettings & {
  /** The kernel's bundle, `dist/kernel.cjs`. */
  entry: string;
  node: NodeRuntime;
  /** The notebook's folder: relative paths and imports of cells start here. */
  cwd: string;
  /** Which catalog `db` is; null for none. */
  catalog: CatalogConfig | null;
  /** Given when the kernel is to outlive this client, for `attach`. Else it ends when the client does. */
  keep?: KeepKernel;
  /** Given when cells may ask the person. */
  ask?: AskPerson;
  env?: Record<string, string>;
  signal?: AbortSignal;
};

export type KernelExit = {
  /** Whether `shutdown()` or `dispose()` was called before. */
  isExpected: boolean;
  /** One sentence: the exit code or signal, and the last line of stderr where there is one. */
  reason: string;
};

type ExecuteOptions = {
  signal?: AbortSignal;
  /** Nothing is sent of the cell but its reply. */
  silent?: boolean;
  /** False for code that is not the person's: it is not counted. */
  storeHistory?: boolean;
  /** Where the code is in the notebook, so that a later client can show what it does. */
  cell?: CellPlace;
};

/** A kernel that was there before, and what its cells did while nobody was connected. */
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
  /** Runs of an earlier client that go on: what they send is kept until somebody resumes them. */
  readonly #resumable = new Map<string, { reply: Promise<ExecuteReply>; outputs: Handover }>();

  /**
   * Starts a kernel and waits for its handshake.
   * @throws CatalogError ServiceUnavailable (17) when it ends or is silent before that; AbortError when cancelled
   */
  static async start(options: KernelStart): Promise<KernelProcess> {
    const { node, keep, signal } = options;
    signal?.throwIfAborted();
    for (const { flags, entry, goOn } of waysToStart(node, options.entry)) {
      const link = startLink({ ...options, entry, flags, ...(keep && { folder: keep.folder }) });
      try {
        return await new KernelProcess(link, keep?.folder, options.ask).#begin(options);
      } catch (error) {
        if (signal?.aborted || !goOn(link)) throw error;
      }
    }
    throw new Error('The last way to start a kernel says itself why it failed.');
  }

  /**
   * Takes over a kernel that was started with `keep` and whose client is gone.
   * @throws CatalogError ServiceUnavailable (17) when it has ended, Internal (18) while it has another client
   */
  static async attach(
    folder: string,
    options: { ask?: AskPerson; signal?: AbortSignal } = {},
  ): Promise<AttachedKernel> {
    const { ask, signal } = options;
    signal?.throwIfAborted();
    const { link, secret } = await openLink(folder);
    const kernel = new KernelProcess(link, folder, ask);
    try {
      const { executionCount, runs, ...handshake } = await answered(kernel.#attach(secret), signal);
      kernel.#handshake = handshake;
      return { kernel, executionCount, runs };
    } catch (error) {
      kernel.leave();
      throw error;
    }
  }

  private constructor(link: KernelLink, folder: string | undefined, ask: AskPerson | undefined) {
    this.#link = link;
    this.#talk = new KernelConversation(link.pipe, ask, link.kill);
    void this.#watch(link, folder);
  }

  /** What the kernel found of itself when it started. */
  get handshake(): KernelHandshake {
    if (!this.#handshake) throw new Error('KernelProcess.start gives a kernel whose handshake is known.');
    return this.#handshake;
  }

  /** Whether this client went away from it; then it may live. */
  get hasLeft(): boolean {
    return this.#hasLeft;
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
    options: ExecuteOptions = {},
  ): Promise<ExecuteReply> {
    const { signal, ...rest } = options;
    signal?.throwIfAborted();
    const outputs = handover();
    outputs.give(onOutput);
    const content = { code, ...rest, ...(this.#talk.canAsk && { allowStdin: true }) };
    return this.#follow(this.#talk.request('execute_request', content, 'execute_reply', outputs), outputs, signal);
  }

  /**
   * Goes on with a run of an earlier client, by its id: `onOutput` gets what it sends from the attachment on.
   * @throws CatalogError InvalidInput (13) for a run that does not go on; as `execute` otherwise
   */
  async resume(id: string, onOutput: (output: KernelOutput) => void): Promise<ExecuteReply> {
    const run = this.#resumable.get(id);
    if (!run) throw new CatalogError('InvalidInput', `The kernel runs nothing called "${id}".`, 'Run the cell again.');
    this.#resumable.delete(id);
    run.outputs.give(onOutput);
    return this.#follow(run.reply, run.outputs, undefined);
  }

  /** Completions at a position in UTF-16 units. Waits while a cell runs without a pause. */
  complete(code: string, cursorPos: number, signal?: AbortSignal): Promise<Replies['complete_reply']> {
    return cancellable(this.#talk.request('complete_request', { code, cursorPos }, 'complete_reply'), signal);
  }

  /** What is at a position, as text. */
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

  /**
   * Asks the kernel's debugger, also while a cell runs or stands still. `atOnce` gets the response before any event that
   * came after it.
   */
  debug(request: DebugRequest, atOnce: (response: DebugResponse) => void): Promise<DebugResponse> {
    return this.#talk.request('debug_request', request, 'debug_reply', { atOnce });
  }

  onDebugEvent(listener: (event: DebugEvent) => void): { dispose(): void } {
    return this.#talk.onDebugEvent(listener);
  }

  /** Ends the running cell and drops the waiting ones. `failed` when the cell goes on: then only a restart helps. */
  interrupt(): Promise<Replies['interrupt_reply']> {
    return this.#talk.request('interrupt_request', {}, 'interrupt_reply');
  }

  /** Ends the kernel and waits until its process is gone. */
  async shutdown(): Promise<void> {
    if (this.#exit) return;
    this.#isEnding = true;
    const gone = new Promise<void>((resolve) => this.#exitListeners.add(() => resolve()));
    const last = setTimeout(() => this.#link.kill(), 3000);
    // The pipe may break before the reply is through; the exit is what counts.
    this.#talk.request('shutdown_request', {}, 'shutdown_reply').catch(() => {});
    await gone;
    clearTimeout(last);
  }

  /** Output that came when its cell was not running (`parent` is the id of that execution, '' when unknown). */
  onOrphanOutput(listener: (output: KernelOutput) => void): { dispose(): void } {
    return this.#talk.onOrphanOutput(listener);
  }

  /** Called once, at once if the kernel is gone already. */
  onDidExit(listener: (exit: KernelExit) => void): { dispose(): void } {
    if (this.#exit) listener(this.#exit);
    else this.#exitListeners.add(listener);
    return { dispose: () => void this.#exitListeners.delete(listener) };
  }

  /** Goes away from a kernel that was started with `keep`, which waits for another client; any other one ends. */
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

  async #begin({ catalog, typeCheck, language, keep, signal }: KernelStart): Promise<this> {
    const settings = { ...(typeCheck && { typeCheck }), ...(language && { language }) };
    const content = { catalog, ...settings, ...(keep && { keep }) };
    try {
      this.#handshake = await answered(this.#talk.request('start', content, 'start_reply'), signal);
      return this;
    } catch (error) {
      this.dispose();
      throw error;
    }
  }

  #attach(secret: string): Promise<Replies['attach_reply']> {
    // At once: what the runs send may lie in the same piece as the reply.
    const atOnce = ({ runs }: Replies['attach_reply']) => runs.forEach((run) => this.#expect(run));
    return this.#talk.request('attach', { secret }, 'attach_reply', { atOnce });
  }

  #expect({ id, ended }: KernelRun): void {
    if (ended) return;
    const outputs = handover();
    const reply = this.#talk.expect(id, 'execute_reply', outputs.take);
    // Who resumes it gets the failure; until then it is nobody's.
    reply.catch(() => undefined);
    this.#resumable.set(id, { reply, outputs });
  }

  /** The reply of a run, while its outputs are taken and `signal` interrupts it. */
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
    // Code of a cell has closed the pipe, without which nobody can reach the kernel or end it.
    if (!this.#hasLeft && link.runs()) link.kill();
    // Before anybody starts another one there. A client that left took nothing away: the kernel lives.
    if (folder !== undefined && !this.#hasLeft) await removeKept(folder).catch(() => undefined);
    // Who left a kernel can't say how it ends.
    const note = this.#hasLeft ? undefined : this.#handshake?.crashNote;
    const said = await describeEnd(reason, note);
    const exit = { isExpected: this.#isEnding, reason: this.#isEnding ? `The kernel has ended: ${reason}.` : said };
    this.#exit = exit;
    const next = 'Run the cell again to start a new kernel.';
    this.#talk.end(new CatalogError('ServiceUnavailable', exit.reason, next));
    for (const listener of this.#exitListeners) guarded(() => listener(exit));
    this.#exitListeners.clear();
  }
}
