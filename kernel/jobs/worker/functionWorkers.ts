import { mkdir, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { RecordBatch } from '#arrow';
import type { ComputedFunction, OnError } from '#shared/jobs/computedFunction.ts';
import { JobError } from '#shared/jobs/jobErrors.ts';
import { thisNode, type NodeRuntime } from '#processes/childProcess.ts';
import { workerLine } from './workerOptions.ts';
import { WorkerProcess, type WorkerEnded } from './workerProcess.ts';

/** Batches that a worker has at once, so that one is there when it has answered another. */
const perWorker = 2;
/** How often a batch is sent anew before it is taken to be what kills the workers. */
const maxCrashes = 3;

/** The worker's bundle beside the bundles, or in dist/ where sources run as they are. */
export const functionWorkerEntry = (): string => {
  const here = import.meta.dirname;
  return basename(here) === 'dist' ? join(here, 'functionWorker.mjs') : join(here, '../../../dist/functionWorker.mjs');
};

export type FunctionWorkersOptions = {
  readonly function: Extract<ComputedFunction, { kind: 'typescript' }>;
  /** How many processes. */
  readonly count: number;
  /** In place of what the function says. */
  readonly onError?: OnError | undefined;
  /** Rows of an asynchronous function that a worker runs at once. */
  readonly concurrency?: number | undefined;
  /** A folder of the job: the function is written there, and it is where the function runs. */
  readonly folder: string;
  /** What the function prints. */
  readonly log: (text: string) => void;
  /** A worker died and another one took its place. */
  readonly onRestart?: ((reason: string) => void) | undefined;
  /** Told of each batch how many rows it had and how long a worker was at it. */
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
 * Processes that run one TypeScript function over batches. A process that dies is replaced and its batches are sent anew, so
 * that a function which fails now and then by taking the process with it still gets through.
 */
export class FunctionWorkers {
  readonly #options: FunctionWorkersOptions;
  readonly #line: string;
  readonly #workers = new Set<WorkerProcess>();
  /** Batches that no worker has room for. */
  readonly #queue: Task[] = [];
  /** Deaths since a worker last answered. */
  #deaths = 0;
  /** Set once nothing is computed any more. */
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
   * @throws the signal's reason when it is aborted
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

  /** How many processes there are. */
  get size(): number {
    return this.#workers.size;
  }

  get pids(): readonly number[] {
    return [...this.#workers].flatMap(({ pid }) => pid ?? []);
  }

  /**
   * Computes a batch of the function's inputs, when a worker has room for it. Batches must have one schema.
   * @returns a batch of `value` and `error`, as README.md says
   * @throws JobError FunctionInvalid, FunctionCrashed when workers die of it again and again; an AbortError
   */
  compute(batch: RecordBatch): Promise<RecordBatch> {
    return new Promise((resolve, reject) => {
      this.#queue.push({ batch, resolve, reject, crashes: 0 });
      this.#feed();
    });
  }

  /** Ends all processes at once. What was not answered is rejected. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#options.signal.removeEventListener('abort', this.#aborted);
    const workers = [...this.#workers];
    this.#fail(new DOMException('The workers of the function were ended.', 'AbortError'));
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
    task.crashes++;
    if (this.#end !== undefined) task.reject(this.#end);
    else if (task.crashes >= maxCrashes) task.reject(crashed(this.#options.function.name, error));
    else {
      // In front, for what came before is waited for first.
      this.#queue.unshift(task);
      this.#feed();
    }
  }

  #gone(worker: WorkerProcess, end: WorkerEnded): void {
    this.#workers.delete(worker);
    if (this.#end !== undefined) return;
    this.#deaths++;
    if (end.final) this.#fail(end.final);
    // Also where no batch was there to be killed by.
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
    `The process of the function "${name}" died again and again: ${cause instanceof Error ? cause.message : String(cause)}.`,
    'Look into the log of the job; it may need less memory, or smaller batches.',
    { cause },
  );
