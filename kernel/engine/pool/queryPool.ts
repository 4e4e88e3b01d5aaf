import type { IncomingMessage } from 'node:http';
import { json } from 'node:stream/consumers';
import type { ForwardedRequest } from '#catalog/engineProcess.ts';
import { parseErrorBody } from '#catalog/engineRequest.ts';
import type { CatalogError } from '#shared/errors.ts';
import { busy, closing, endedEarly, notStarted, tooSlow } from './poolErrors.ts';
import { replyChunks, replyHeaders } from './replyChunks.ts';
import { SilenceTimer } from './silenceTimer.ts';

/** A process that runs queries; an `EngineProcess` is one. */
export type QueryProcess = {
  forward(request: ForwardedRequest, signal: AbortSignal): Promise<IncomingMessage>;
  onDidExit(listener: (exit: { code: number | null; signal: NodeJS.Signals | null }) => void): { dispose(): void };
  kill(): void;
  /** Ends the process after its running writes. */
  dispose(): Promise<void>;
};

/** A request for a process of the pool. */
export type PooledRequest = ForwardedRequest & {
  /** The owner of the request. The processes are shared fairly between owners. */
  readonly owner: string;
  /**
   * A label that is the same for requests of the same cost. A request runs alone in its process until a request with
   * the same label has ended well. Without a label, the request always runs alone.
   */
  readonly sameAs?: string | undefined;
  /** Milliseconds that the process may be silent while its caller waits. */
  readonly time: number;
};

/** A response of a process of the pool. The reader must read all chunks or call `return`. */
export type PooledReply = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly chunks: AsyncGenerator<Uint8Array, void, undefined>;
};

/** Why a request was stopped: its time or its process has ended. */
export type StopReason = 'time' | 'ended';

export type PoolOptions<Process extends QueryProcess> = {
  start: (signal: AbortSignal) => Promise<Process>;
  /** Maximum number of processes at the same time. */
  processes: number;
  /** Processes that the requests of one owner may have. */
  processesPerOwner: number;
  /** Milliseconds that a request waits for a process. */
  waitTime: number;
  /** Whether a process uses too much memory for another request. */
  isFull?: ((process: Process) => boolean) | undefined;
  /** Called for each stopped request. */
  onStopped?: ((reason: StopReason, cause: unknown) => void) | undefined;
  /** Called if a process can't start. */
  onNotStarted?: ((cause: unknown) => void) | undefined;
};

/**
 * Maximum number of requests that share a process. The number is small because the engine has a thread for each
 * request, and each thread has a stack of 16 MB.
 */
const requestsPerProcess = 8;
/** Milliseconds after which an unused process ends. */
const idleMs = 60_000;
/** Maximum number of kinds of requests that are remembered because they ended well. */
const maxKnown = 10_000;

type Task = {
  readonly owner: string;
  /** Whether the request has its process for itself. */
  readonly isAlone: boolean;
};

type Slot<Process extends QueryProcess> = {
  readonly process: Process;
  readonly tasks: Set<Task>;
  /** What happens to the process when it has no more requests. */
  after: 'stays' | 'ends' | 'is killed';
  idle: NodeJS.Timeout | undefined;
};

type Waiting<Process extends QueryProcess> = {
  readonly task: Task;
  take(slot: Slot<Process>): void;
  refuse(error: Error): void;
};

const isOf = (tasks: ReadonlySet<Task>, owner: string): boolean => [...tasks].some((task) => task.owner === owner);

/**
 * Runs requests that could end the engine or keep it busy in separate processes, which may end.
 *
 * A request of a new kind has a process for itself. If the process ends, only the caller of this request is refused.
 * Requests whose kind succeeded before share a process with other requests of their owner. A running search of the
 * engine can be stopped only by ending its process. So a process is killed if a request takes too long, or if its
 * caller disconnects before the end of the response.
 */
export class QueryPool<Process extends QueryProcess> {
  readonly #options: PoolOptions<Process>;
  readonly #slots = new Set<Slot<Process>>();
  readonly #waiting: Waiting<Process>[] = [];
  // A Set keeps the order of insertion; the oldest entry is removed first.
  readonly #known = new Set<string>();
  readonly #closed = new AbortController();
  #starting = 0;

  constructor(options: PoolOptions<Process>) {
    this.#options = options;
  }

  /** Processes that run at the moment. */
  get size(): number {
    return this.#slots.size;
  }

  /**
   * Runs a request. Resolves with the beginning of its response.
   * @throws CatalogError ServiceUnavailable (17) if no process is free or can start, or the process of the request
   * ended or took too long; the error of the response; AbortError
   */
  async run(request: PooledRequest, signal: AbortSignal): Promise<PooledReply> {
    const { owner, sameAs, time } = request;
    const task: Task = { owner, isAlone: sameAs === undefined || !this.#known.has(sameAs) };
    const slot = await this.#enter(task, signal);
    const timer = new SilenceTimer(time);
    const stop = (cause: unknown): never => {
      this.#leave(slot, task, true);
      if (sameAs !== undefined) this.#known.delete(sameAs);
      signal.throwIfAborted();
      const failure = timer.isOver ? tooSlow(time, cause) : endedEarly(cause);
      this.#options.onStopped?.(timer.isOver ? 'time' : 'ended', cause);
      throw failure;
    };
    let response: IncomingMessage;
    let failed: CatalogError | undefined;
    try {
      const body = timer.watch(request.body);
      const either = AbortSignal.any([signal, timer.signal]);
      response = await slot.process.forward({ ...request, body }, either);
      if ((response.statusCode ?? 500) >= 400) failed = parseErrorBody(await json(response), response.statusCode);
      timer.stop();
    } catch (cause) {
      timer.stop();
      if (!timer.bodyFault) return stop(cause);
      this.#leave(slot, task, true);
      throw timer.bodyFault.cause;
    }
    if (failed) {
      this.#leave(slot, task, false);
      throw failed;
    }
    const done = (): void => {
      this.#leave(slot, task, false);
      if (sameAs !== undefined) this.#remember(sameAs);
    };
    const abandon = (): void => this.#leave(slot, task, true);
    return {
      status: response.statusCode ?? 500,
      headers: replyHeaders(response),
      chunks: replyChunks(response, timer, { done, stop, abandon }),
    };
  }

  /** Refuses waiting requests, and ends the processes after their running writes. */
  async close(): Promise<void> {
    this.#closed.abort();
    for (const waiting of this.#waiting.splice(0)) waiting.refuse(closing());
    const slots = [...this.#slots];
    this.#slots.clear();
    for (const { idle } of slots) clearTimeout(idle);
    await Promise.all(slots.map(({ process }) => process.dispose()));
  }

  /** Waits for a process. @throws CatalogError ServiceUnavailable (17), AbortError */
  #enter(task: Task, signal: AbortSignal): Promise<Slot<Process>> {
    signal.throwIfAborted();
    if (this.#closed.signal.aborted) throw closing();
    return new Promise((resolve, reject) => {
      const end = (): void => {
        clearTimeout(late);
        signal.removeEventListener('abort', leave);
        const at = this.#waiting.indexOf(waiting);
        if (at >= 0) this.#waiting.splice(at, 1);
      };
      const refuse = (error: Error): void => {
        end();
        reject(error);
      };
      const leave = (): void => refuse(signal.reason as Error);
      const late = setTimeout(() => refuse(busy()), this.#options.waitTime);
      const waiting: Waiting<Process> = {
        task,
        refuse,
        take: (slot) => {
          end();
          resolve(slot);
        },
      };
      signal.addEventListener('abort', leave, { once: true });
      this.#waiting.push(waiting);
      this.#assign();
    });
  }

  /** Gives processes to waiting requests, first to requests whose owner has the fewest processes. */
  #assign(): void {
    const blocked = new Set<Waiting<Process>>();
    for (;;) {
      const free = this.#waiting.filter((waiting) => !blocked.has(waiting));
      const [next] = free.toSorted((a, b) => this.#running(a.task.owner) - this.#running(b.task.owner));
      if (!next) break;
      const slot = this.#slotFor(next.task);
      if (!slot) {
        blocked.add(next);
        continue;
      }
      clearTimeout(slot.idle);
      slot.idle = undefined;
      slot.tasks.add(next.task);
      next.take(slot);
    }
    const alone = this.#waiting.filter(({ task }) => task.isAlone && !this.#hasShare(task)).length;
    const shared = this.#waiting.filter(({ task }) => !task.isAlone && !this.#hasShare(task)).length;
    const free = this.#mostAlone - this.#alone().length;
    const wanted = Math.min(alone, free) + Math.ceil(shared / requestsPerProcess);
    while (this.#starting < wanted && this.#canStart) void this.#start();
  }

  /** Returns a process for a request: a shared one with a free place if the request may share, else an unused one. */
  #slotFor(task: Task): Slot<Process> | undefined {
    const open = [...this.#slots].filter(({ after }) => after === 'stays');
    const shared = open.filter(
      ({ tasks }) => tasks.size > 0 && tasks.size < requestsPerProcess && [...tasks].every(({ isAlone }) => !isAlone),
    );
    const own = task.isAlone ? undefined : shared.find(({ tasks }) => isOf(tasks, task.owner));
    if (own) return own;
    if (this.#hasShare(task)) return undefined;
    const unused = open.find(({ tasks }) => tasks.size === 0);
    if (unused || task.isAlone || this.#canStart) return unused;
    // Requests of different owners share a process only if there is no other.
    return shared[0];
  }

  /**
   * Whether a request can't have another process. Either its owner has as many as one owner may have, or the request
   * runs alone and the only process left is reserved for requests that share.
   */
  #hasShare({ owner, isAlone }: Task): boolean {
    if (isAlone && this.#alone().length >= this.#mostAlone) return true;
    const own = [...this.#slots].filter(({ tasks }) => isOf(tasks, owner));
    return own.length >= this.#options.processesPerOwner;
  }

  get #canStart(): boolean {
    return this.#slots.size + this.#starting < this.#options.processes;
  }

  get #mostAlone(): number {
    return Math.max(1, this.#options.processes - 1);
  }

  /** Returns the running requests that have a process for themselves. */
  #alone(): Task[] {
    return [...this.#slots].flatMap(({ tasks }) => [...tasks]).filter(({ isAlone }) => isAlone);
  }

  #running(owner: string): number {
    let count = 0;
    for (const { tasks } of this.#slots) for (const task of tasks) if (task.owner === owner) count++;
    return count;
  }

  async #start(): Promise<void> {
    this.#starting++;
    try {
      const process = await this.#options.start(this.#closed.signal);
      if (this.#closed.signal.aborted) {
        await process.dispose();
        return;
      }
      const slot: Slot<Process> = { process, tasks: new Set(), after: 'stays', idle: undefined };
      this.#slots.add(slot);
      process.onDidExit(() => {
        this.#slots.delete(slot);
        clearTimeout(slot.idle);
        this.#assign();
      });
      this.#rest(slot);
    } catch (cause) {
      if (this.#closed.signal.aborted) return;
      this.#options.onNotStarted?.(cause);
      // Refuses one request for each failed start. So each waiting request gets an answer in time, but there is no
      // flood of starts.
      this.#waiting[0]?.refuse(notStarted(cause));
    } finally {
      this.#starting--;
      this.#assign();
    }
  }

  /** @param isAbandoned whether the engine may still work for the request */
  #leave(slot: Slot<Process>, task: Task, isAbandoned: boolean): void {
    if (!slot.tasks.delete(task)) return;
    if (isAbandoned) slot.after = 'is killed';
    else if (slot.after === 'stays' && this.#options.isFull?.(slot.process)) slot.after = 'ends';
    if (slot.tasks.size > 0) return;
    if (slot.after === 'stays') this.#rest(slot);
    else {
      this.#slots.delete(slot);
      if (slot.after === 'is killed') slot.process.kill();
      // `dispose` is called even after a kill, because it removes the folder of the socket.
      void slot.process.dispose();
    }
    this.#assign();
  }

  /** Ends an unused process after a while. */
  #rest(slot: Slot<Process>): void {
    slot.idle = setTimeout(() => {
      this.#slots.delete(slot);
      void slot.process.dispose();
    }, idleMs).unref();
  }

  #remember(sameAs: string): void {
    this.#known.delete(sameAs);
    this.#known.add(sameAs);
    const [oldest] = this.#known;
    if (this.#known.size > maxKnown && oldest !== undefined) this.#known.delete(oldest);
  }
}
