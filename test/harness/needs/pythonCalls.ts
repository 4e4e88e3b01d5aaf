import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { python } from './python.ts';

/** A Python program that executes calls, one per line. It loads its libraries once for all calls. */
export class PythonCalls {
  readonly #child: ChildProcess;
  readonly #answers: AsyncIterator<string>;
  #turn: Promise<unknown> = Promise.resolve();

  /** @param program a program that calls `answer` of pythonCalls.py */
  constructor(program: string) {
    // Python imports pythonCalls.py from this folder and must leave no compiled file in it.
    const env = { ...process.env, PYTHONPATH: import.meta.dirname, PYTHONDONTWRITEBYTECODE: '1' };
    this.#child = spawn(python(), [program], { stdio: ['pipe', 'pipe', 'inherit'], env });
    this.#answers = createInterface({ input: this.#child.stdout! })[Symbol.asyncIterator]();
  }

  /** @throws Error with the message of the program */
  call<T>(call: string, args: object): Promise<T> {
    const answer = this.#turn.then(async () => {
      this.#child.stdin?.write(`${JSON.stringify({ call, with: args })}\n`);
      const { value, done } = await this.#answers.next();
      if (done === true) throw new Error('The Python that makes tables has ended.');
      const said = JSON.parse(value) as { ok?: T; error?: string };
      if (said.error !== undefined) throw new Error(said.error);
      return said.ok as T;
    });
    this.#turn = answer.catch(() => {});
    return answer;
  }

  async stop(): Promise<void> {
    const ended = once(this.#child, 'exit');
    this.#child.stdin?.end();
    await ended;
  }
}
