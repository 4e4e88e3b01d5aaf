import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { RecordBatch } from '#arrow';
import { bundleFile } from '#processes/bundleFile.ts';
import { type NodeRuntime, thisNode } from '#processes/childProcess.ts';
import type { ComputedFunction, OnError } from '#shared/jobs/computedFunction.ts';
import { JobError } from '#shared/jobs/jobErrors.ts';
import { workerLine } from './workerOptions.ts';
import { BatchNotStarted, type WorkerEnded, WorkerProcess } from './workerProcess.ts';

/** Batches in a worker at the same time: two, so that a worker has the next batch when it finishes one. */
const perWorker = 2;
/** Crashes after which a batch counts as their cause. */
const maxCrashes = 3;

export const functionWorkerEntry = (): string => bundleFile('functionWorker.mjs');

export type FunctionWorkersOptions = {
  readonly function: Extract<ComputedFunction, { kind: 'typescript' }>;
  /** Number of processes. */
  readonly count: number;
  /** Overrides the setting of the function. */
  readonly onError?: OnError | undefined;
  /** Rows in progress at once in a worker, for asynchronous functions. */
  readonly concurrency?: number | undefined;
  /** A folder of the job: location of the function's module and working directory. */
  readonly folder: string;
  /** Receives output of the function. */
  readonly log: (text: string) => void;
  /** Called when a worker has died and is replaced. */
  readonly onRestart?: ((reason: string) => void) | undefined;
  /** Called after each batch with its rows and the worker's seconds. */
  readonly onAnswer?: ((rows: number, seconds: number) => void) | undefined;
  readonly signal: AbortSignal;
  readonly node?: NodeRuntime | undefined;
  readonly entry?: string | undefined;
};

type Task = {
  readonly batch: RecordBatch;
  readonly resolve: (answer: RecordBatch) => void;
  readonly reject: (error: unknown) => void;
  crashes: number;
};

/**
 * Processes that run one TypeScript function over batches. A process that dies is replaced and its batches are sent
 * again, so that functions that crash occasionally still succeed.
 */
export class FunctionWorkers {
  readonly #options: FunctionWorkersOptions;
  readonly #line: string;
  readonly #workers = new Set<WorkerProcess>();
  readonly #queue: Task[] = [];
  /** Number of workers that died since the last result of any worker. */
  #deaths = 0;
  /** The reason why further batches are rejected, if they are. */
  #end: unknown;
  readonly #aborted = (): void => this.#fail(this.#options.signal.reason);

  private constructor(options: FunctionWorkersOptions, line: string) {
    this.#options = options;
    this.#line = line;
    options.signal.addEventListener('abort', this.#aborted, { once: true });
    for (let i = 0; i < options.count; i++) this.#startOne();
  }

  /**
   * Writes the function into the folder and starts the workers.
   * @throws the reason of `signal` if it is aborted
   */
  static async start(options: FunctionWorkersOptions): Promise<FunctionWorkers> {
    const { function: fn, folder, signal, concurrency } = options;
    signal.throwIfAborted();
    await mkdir(folder, { recursive: true });
    const module = `${fn.hash.slice(0, 16)}.mjs`;
    await writeFile(join(folder, module), fn.code, { mode: 0o600 });
    signal.throwIfAborted();
    const line = workerLine({
      module,
      takes: fn.takes,
      inputs: fn.inputs,
      output: fn.output,
      onError: options.onError ?? fn.onError,
      ...(concurrency !== undefined && { concurrency }),
    });
    return new FunctionWorkers(options, line);
  }

  get size(): number {
    return this.#workers.size;
  }

  get pids(): readonly number[] {
    return [...this.#workers].flatMap(({ pid }) => pid ?? []);
  }

  /**
   * Computes a batch as soon as a worker is free. All batches must have one schema.
   * @returns a batch of `value` and `error`, see README.md
   * @throws JobError FunctionInvalid, FunctionCrashed if workers die repeatedly; an AbortError
   */
  compute(batch: RecordBatch): Promise<RecordBatch> {
    return new Promise((resolve, reject) => {
      this.#queue.push({ batch, resolve, reject, crashes: 0 });
      this.#feed();
    });
  }

  /** Kills all processes at once and rejects pending batches. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#options.signal.removeEventListener('abort', this.#aborted);
    const workers = [...this.#workers];
    this.#fail(new DOMException('The workers of the function were stopped.', 'AbortError'));
    await Promise.all(workers.map(({ ended }) => ended));
  }

  #startOne(): void {
    const { entry = functionWorkerEntry(), node = thisNode(), folder, log } = this.#options;
    const worker = new WorkerProcess({ node, entry, line: this.#line, folder, log });
    this.#workers.add(worker);
    void worker.ended.then((end) => this.#gone(worker, end));
  }

  #feed(): void {
    if (this.#end !== undefined) {
      for (const { reject } of this.#queue.splice(0)) reject(this.#end);
      return;
    }
    while (this.#queue.length > 0) {
      const [worker] = [...this.#workers].filter(({ isAlive }) => isAlive).toSorted((a, b) => a.load - b.load);
      if (!worker || worker.load >= perWorker) return;
      const task = this.#queue.shift();
      if (task) void this.#give(worker, task);
    }
  }

  async #give(worker: WorkerProcess, task: Task): Promise<void> {
    try {
      const { answer, seconds } = await worker.compute(task.batch);
      this.#options.onAnswer?.(task.batch.numRows, seconds);
      task.resolve(answer);
      this.#deaths = 0;
      this.#feed();
    } catch (error) {
      this.#again(task, error);
    }
  }

  #again(task: Task, error: unknown): void {
    if (!(error instanceof BatchNotStarted)) task.crashes++;
    if (this.#end !== undefined) task.reject(this.#end);
    else if (task.crashes >= maxCrashes) task.reject(crashed(this.#options.function.name, error));
    else {
      // The task is inserted at the front of the queue, because the caller waits for earlier batches first.
      this.#queue.unshift(task);
      this.#feed();
    }
  }

  #gone(worker: WorkerProcess, end: WorkerEnded): void {
    this.#workers.delete(worker);
    if (this.#end !== undefined) return;
    this.#deaths++;
    if (end.final) this.#fail(end.final);
    // This limit also counts workers that die without a batch.
    else if (this.#deaths > maxCrashes * this.#options.count) this.#fail(crashed(this.#options.function.name, end));
    else {
      this.#options.onRestart?.(end.message);
      this.#startOne();
      this.#feed();
    }
  }

  #fail(reason: unknown): void {
    if (this.#end !== undefined) return;
    this.#end = reason;
    for (const worker of this.#workers) worker.kill();
    this.#feed();
  }
}

const crashed = (name: string, cause: unknown): JobError =>
  new JobError(
    'FunctionCrashed',
    `The process of the function "${name}" ended repeatedly: ${cause instanceof Error ? cause.message : String(cause)}.`,
    'Check the log of the job. Use less memory or smaller batches.',
    { cause },
  );
