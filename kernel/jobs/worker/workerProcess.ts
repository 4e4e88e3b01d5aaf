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
import { exitCodes, failureIn } from './rowFailures.ts';

/** Characters of stderr for the error message. */
const tailLength = 20_000;

/** Milliseconds to read the pipes after the process has ended. */
const drainMilliseconds = 1000;

type WorkerStart = {
  readonly node: NodeRuntime;
  /** Path of `dist/functionWorker.mjs`. */
  readonly entry: string;
  /** Options, encoded by `workerLine`. */
  readonly line: string;
  readonly folder: string;
  /** Receives output of the function. */
  readonly log: (text: string) => void;
};

/** `seconds`: time of the worker for this batch alone. */
type TimedAnswer = { readonly answer: RecordBatch; readonly seconds: number };

type Waiting = { sent: number; resolve: (answer: TimedAnswer) => void; reject: (error: Error) => void };

export class WorkerEnded extends Error {
  /** The reason why it would not help to start the worker again; undefined if it may help. */
  readonly final: JobError | undefined;

  constructor(reason: string, final?: JobError) {
    super(reason);
    this.name = 'WorkerEnded';
    this.final = final;
  }
}

/** Rejects a batch that the worker had not started when it ended. */
export class BatchNotStarted extends Error {
  override readonly name = 'BatchNotStarted';
}

/** One worker. Results arrive in the order of the batches. */
export class WorkerProcess {
  readonly #child: ChildProcess;
  readonly #waiting: Waiting[] = [];
  /** The time when the function was loaded or the last result arrived. */
  #free = 0;
  readonly #writer = new RecordBatchStreamWriter();
  readonly #written = createWrittenBytes();
  /** Resolves after the end of the process and of its output. */
  readonly ended: Promise<WorkerEnded>;
  #hasSchema = false;
  #tail = '';
  #end: WorkerEnded | undefined;

  constructor({ node, entry, line, folder, log }: WorkerStart) {
    this.#child = startNode({ node, entry, cwd: folder, stdio: ['pipe', 'pipe', 'pipe'] });
    // Errors of the pipe are ignored, because the end of the process explains them.
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

  get load(): number {
    return this.#waiting.length;
  }

  get isAlive(): boolean {
    return this.#end === undefined;
  }

  /**
   * Computes a batch.
   * @throws WorkerEnded if the process ends while it computes the batch; BatchNotStarted if the process ends earlier
   */
  async compute(batch: RecordBatch): Promise<TimedAnswer> {
    if (this.#end) throw new BatchNotStarted(this.#end.message, { cause: this.#end });
    if (!this.#hasSchema) this.#writer.reset(this.#written, batch.schema);
    this.#hasSchema = true;
    this.#writer.write(batch);
    const sent = performance.now();
    const answer = new Promise<TimedAnswer>((resolve, reject) => this.#waiting.push({ sent, resolve, reject }));
    this.#child.stdin?.write(this.#written.take());
    return answer;
  }

  /** Closes the worker's input, so that the worker finishes its batches and ends. */
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
    // After an invalid result the process is killed, because the stream can't be read further.
    const read = this.#readAnswers().catch(() => this.kill());
    const reason = await exited;
    // Reads the last output from the pipes, with a time limit, because a program that the function started may keep the
    // pipes open forever.
    await Promise.race([read, setTimeout(drainMilliseconds, undefined, { ref: false })]);
    this.#child.stdout?.destroy();
    this.#child.stderr?.destroy();
    this.#end = reason();
    const [computing, ...rest] = this.#waiting.splice(0);
    computing?.reject(this.#end);
    for (const { reject } of rest) reject(new BatchNotStarted(this.#end.message, { cause: this.#end }));
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
    // A function may exit with any code, so these codes count only together with a reason.
    if (said && (code === exitCodes.notLoaded || code === exitCodes.unusable)) {
      const { kind, message } = said;
      const hint = kind === 'FunctionInvalid' ? 'Fix the function and define it again.' : '';
      return new WorkerEnded(message, new JobError(kind, message, hint));
    }
    return new WorkerEnded(exitReason(code, signal, this.#tail));
  }
}

const notStarted = (error: unknown): JobError =>
  new JobError('NodeMissing', `The worker of the function did not start: ${messageOf(error)}.`, 'Install Node.js.', {
    cause: error,
  });
