import { createExecutor, type Executor } from 'tslab/dist/executor.js';
import { describeError, describeProblems } from './compile/cellError.ts';
import { CellMaps } from './compile/cellMaps.ts';
import { chosenCatalog } from './chosenCatalog.ts';
import { CellCompiler } from './compile/compiler.ts';
import type {
  CellError,
  CellResult,
  ExpressionValue,
  FromCore,
  Question,
  QuestionAnswer,
  ToCore,
} from './coreMessages.ts';
import { show } from './display/display.ts';
import { createDisplay } from './display/displayFunction.ts';
import { PersonAsker } from './input/askPerson.ts';
import { answer } from './language.ts';
import { lendModules } from './compile/modules.ts';
import type { Outputs } from './outputs.ts';
import * as preload from './preload.ts';
import { takeTslabDisplay } from './display/tslabDisplay.ts';
import { unsendable } from './unsendable.ts';
import { listVariables } from './variables.ts';

type ExecuteMessage = Extract<ToCore, { type: 'execute' }>;

/** Runs cells on the main thread. Knows nothing of protocols; everything it must not lose is kept by the worker. */
export class Core {
  readonly #post: (message: FromCore) => void;
  readonly #outputs: Outputs;
  readonly #maps = new CellMaps();
  readonly #compiler = new CellCompiler(this.#maps);
  readonly #executor: Executor;
  readonly #asker: PersonAsker;
  /** What the notebook has before its first cell. */
  readonly #given: Record<string, unknown>;
  #running: string | undefined;
  /** What `display` returned in the running cell: settled once the value is shown. */
  #displays: Promise<void>[] = [];
  // What the executor says of the code it ran last; it has no other way to return a value or an error.
  #value: { shown: unknown } | undefined;
  #thrown: { error: unknown } | undefined;
  #problems: string[] = [];

  constructor(post: (message: FromCore) => void, outputs: Outputs) {
    this.#post = post;
    this.#outputs = outputs;
    this.#executor = createExecutor(process.cwd(), this.#compiler.set, {
      log: (value: unknown) => {
        this.#value = { shown: value };
      },
      error: (first: unknown, ...rest: unknown[]) => {
        // Four more arguments: a finding of the type checker as file, line, column, text. Else the thing thrown.
        if (rest.length === 4) {
          const [file, line, column, text] = rest.map(String);
          this.#problems.push(`${file}${line}:${column} - ${text}`);
        } else this.#thrown = { error: first };
      },
    });
    const display = createDisplay(
      (output) => outputs.send(output),
      show,
      (pending) => this.#displays.push(pending),
    );
    this.#asker = new PersonAsker({ post, cell: () => outputs.cell });
    const notebook = { ...preload, ...this.#asker.functions(), display };
    lendModules(notebook);
    takeTslabDisplay((output) => outputs.send(output));
    this.#given = { ...notebook, db: chosenCatalog(null) };
    Object.assign(this.#executor.locals, this.#given);
  }

  receive(message: Exclude<ToCore, { type: 'exit' }>): void {
    switch (message.type) {
      case 'start':
        this.#given['db'] = this.#executor.locals['db'] = chosenCatalog(message.catalog);
        return;
      case 'execute':
        void this.#execute(message);
        return;
      case 'ask':
        return this.#post({
          type: 'answer',
          id: message.id,
          answer: this.#answer(message.question),
        });
      case 'inputReply':
        return this.#asker.settle(message.id, message.answer);
      case 'interrupt':
        return this.#interrupt(message.id);
    }
  }

  #answer(question: Question): QuestionAnswer {
    if (question.kind !== 'variables') return answer(this.#compiler.set.node, question);
    return { kind: 'variables', list: listVariables(this.#executor.locals, this.#given) };
  }

  /** Loads the compiler's libraries ahead of the first cell. */
  warmUp(): void {
    this.#compiler.warmUp();
  }

  /** An error that no cell can catch any more: of a timer, or a rejected promise that nobody waits for. */
  reportUncaught(error: unknown): void {
    const { traceback } = describeError(error, this.#maps);
    this.#outputs.send({ type: 'stream', content: { name: 'stderr', text: `Uncaught ${traceback.join('\n')}\n` } });
  }

  async #execute(message: ExecuteMessage): Promise<void> {
    this.#running = message.id;
    this.#displays = [];
    this.#compiler.count = message.count;
    const result = await this.#outputs.within(message.id, () => this.#evaluate(message));
    this.#finish(message.id, result);
  }

  async #evaluate({ code, expressions }: ExecuteMessage): Promise<CellResult> {
    const values: Record<string, ExpressionValue> = {};
    const { value, error } = await this.#run(code);
    if (!error) {
      for (const [name, expression] of Object.entries(expressions)) {
        const { value: shown, error: failed } = await this.#run(expression);
        values[name] = failed
          ? { status: 'error', ...failed }
          : { status: 'ok', ...(shown ?? { data: { 'text/plain': 'undefined' }, metadata: {} }) };
      }
    }
    return { value, error, expressions: values };
  }

  async #run(code: string): Promise<Pick<CellResult, 'value' | 'error'>> {
    this.#value = undefined;
    this.#thrown = undefined;
    this.#problems = [];
    try {
      const isDone = await this.#executor.execute(code);
      const last = this.#value as { shown: unknown } | undefined;
      if (!isDone) return { value: null, error: this.#failure() };
      // `display(x)` as the last line has shown x already; its promise is nothing to look at.
      const isDisplay = this.#displays.some((pending) => pending === last?.shown);
      const value = last && !isDisplay ? await show(last.shown) : null;
      await Promise.all(this.#displays);
      return { value, error: null };
    } catch (error) {
      return { value: null, error: describeError(error, this.#maps) };
    }
  }

  #failure(): CellError {
    if (this.#thrown) return describeError(this.#thrown.error, this.#maps);
    return describeProblems(this.#problems);
  }

  #interrupt(id: string): void {
    if (this.#running !== id) return;
    this.#compiler.recover();
    this.#executor.interrupt();
    this.#asker.forget(id);
    const evalue = 'The cell was interrupted.';
    this.#finish(id, { value: null, error: { ename: 'Interrupted', evalue, traceback: [evalue] }, expressions: {} });
  }

  // A cell that was interrupted may still settle later; the first end counts.
  #finish(id: string, result: CellResult): void {
    if (this.#running !== id) return;
    this.#running = undefined;
    try {
      this.#post({ type: 'done', id, result });
    } catch (error) {
      // The cell must end, whatever it made of its result.
      this.#post({ type: 'done', id, result: { value: null, error: unsendable('result', error), expressions: {} } });
    }
  }
}
