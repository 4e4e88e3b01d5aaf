import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout } from 'node:timers/promises';
import { RecordBatchStreamWriter, type RecordBatch } from '#arrow';
import { messageOf } from '#shared/errors.ts';
import { JobError } from '#shared/jobs/jobErrors.ts';
import { startNode, type NodeRuntime } from '#processes/childProcess.ts';
import { exitReason } from '#processes/exitReason.ts';
import { readIpc } from '#catalog/arrow/ipcReader.ts';
import { createWrittenBytes } from '#catalog/arrow/ipcWriter.ts';
import { exitCodes, failureIn } from './failures.ts';

/** Characters of what a worker wrote last that are kept for the error that names its end. */
const tailLength = 20_000;

/** How long the pipes of a process that has ended are read. */
const drainMilliseconds = 1000;

type WorkerStart = {
  readonly node: NodeRuntime;
  /** The worker's bundle, `dist/functionWorker.mjs`. */
  readonly entry: string;
  /** What it is told, as `workerLine` has it. */
  readonly line: string;
  readonly folder: string;
  /** What the function prints. */
  readonly log: (text: string) => void;
};

/** A batch of values and errors, and how long the worker was at it alone. */
type TimedAnswer = { readonly answer: RecordBatch; readonly seconds: number };

type Waiting = { sent: number; resolve: (answer: TimedAnswer) => void; reject: (error: Error) => void };

/** Why a worker ended, and whether another one would. */
export class WorkerEnded extends Error {
  /** Set where starting it again is of no use. */
  readonly final: JobError | undefined;

  constructor(reason: string, final?: JobError) {
    super(reason);
    this.name = 'WorkerEnded';
    this.final = final;
  }
}

/** One process of a function's worker. Answers come in the order of the batches. */
export class WorkerProcess {
  readonly #child: ChildProcess;
  readonly #waiting: Waiting[] = [];
  /** When it had answered what it had, or loaded the function. */
  #free = 0;
  readonly #writer = new RecordBatchStreamWriter();
  readonly #written = createWrittenBytes();
  /** Settles when it has ended and all of its output is read. */
  readonly ended: Promise<WorkerEnded>;
  #hasSchema = false;
  #tail = '';
  #end: WorkerEnded | undefined;

  constructor({ node, entry, line, folder, log }: WorkerStart) {
    this.#child = startNode({ node, entry, cwd: folder, stdio: ['pipe', 'pipe', 'pipe'] });
    // What is wrong with the pipe is told by the end of the process.
    this.#child.stdin?.on('error', () => {});
    this.#child.stdin?.write(line);
    this.#child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.#tail = (this.#tail + text).slice(-tailLength);
      log(text);
    });
    this.ended = this.#live();
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  /** How many batches it has not answered. */
  get load(): number {
    return this.#waiting.length;
  }

  /** Whether it takes batches. */
  get isAlive(): boolean {
    return this.#end === undefined;
  }

  /** Sends a batch. @throws WorkerEnded when it ends before it has answered */
  async compute(batch: RecordBatch): Promise<TimedAnswer> {
    if (this.#end) throw this.#end;
    if (!this.#hasSchema) this.#writer.reset(this.#written, batch.schema);
    this.#hasSchema = true;
    this.#writer.write(batch);
    const sent = performance.now();
    const answer = new Promise<TimedAnswer>((resolve, reject) => this.#waiting.push({ sent, resolve, reject }));
    this.#child.stdin?.write(this.#written.take());
    return answer;
  }

  /** Lets it finish what it has. */
  close(): void {
    if (this.#hasSchema) this.#writer.finish();
    this.#child.stdin?.end(this.#written.take());
  }

  kill(): void {
    this.#child.kill('SIGKILL');
  }

  async #live(): Promise<WorkerEnded> {
    const exited = once(this.#child, 'exit').then(
      ([code, signal]) =>
        () =>
          this.#reasonOf(code as number | null, signal as NodeJS.Signals | null),
      (error: unknown) => () => new WorkerEnded(messageOf(error), notStarted(error)),
    );
    // Nothing that follows an answer that can't be read can be read either.
    const read = this.#readAnswers().catch(() => this.kill());
    const reason = await exited;
    // What it wrote last is still in the pipes; a program that the function started may hold them open for ever.
    await Promise.race([read, setTimeout(drainMilliseconds, undefined, { ref: false })]);
    this.#child.stdout?.destroy();
    this.#child.stderr?.destroy();
    this.#end = reason();
    for (const { reject } of this.#waiting.splice(0)) reject(this.#end);
    return this.#end;
  }

  async #readAnswers(): Promise<void> {
    if (!this.#child.stdout) return;
    const { batches } = await readIpc(this.#child.stdout, undefined, { keepEmpty: true });
    this.#free = performance.now();
    for await (const answer of batches) {
      const { sent = 0, resolve } = this.#waiting.shift() ?? {};
      const now = performance.now();
      resolve?.({ answer, seconds: (now - Math.max(sent, this.#free)) / 1000 });
      this.#free = now;
    }
  }

  #reasonOf(code: number | null, signal: NodeJS.Signals | null): WorkerEnded {
    const said = failureIn(this.#tail);
    // A function may end its process with any code; the worker says why when it does.
    if (said && (code === exitCodes.notLoaded || code === exitCodes.unusable)) {
      const { kind, message } = said;
      const hint = kind === 'FunctionInvalid' ? 'Mend the function and define it again.' : '';
      return new WorkerEnded(message, new JobError(kind, message, hint));
    }
    return new WorkerEnded(exitReason(code, signal, this.#tail));
  }
}

const notStarted = (error: unknown): JobError =>
  new JobError('NodeMissing', `The worker of the function did not start: ${messageOf(error)}.`, 'Install Node.js.', {
    cause: error,
  });
