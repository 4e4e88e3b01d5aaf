import type { FromCore } from '#session/threads/coreMessages.ts';
import { createInputSlot, waitForInput, type InputAnswer } from './gate.ts';

type InputOptions = {
  /** Hides the answer while it is typed, and keeps it out of the notebook. */
  password?: boolean | undefined;
};

/** Asks the user for a line of text; other work of the kernel continues. */
export type Input = (prompt?: string, options?: InputOptions) => Promise<string>;
/** Asks for a line of text and blocks the kernel until the answer; `null` if the user cancels. */
export type Prompt = (message?: string, preset?: string) => string | null;
/** Asks a yes/no question and blocks the kernel until the answer. */
export type Confirm = (message?: string) => boolean;

type Surroundings = {
  post: (message: FromCore) => void;
  /** Returns the id of the running cell, or `null` if there is none. Each question is sent with this id. */
  cell: () => string | null;
};

type Waiting = {
  parent: string | null;
  /** Holds the stack of the call. When the answer arrives, this stack is no longer available. */
  asked: Error;
  resolve: (value: string) => void;
  reject: (error: Error) => void;
};

/** The main thread's side of user input: the functions for cells, and the delivery of answers. */
export class InputRequests {
  readonly #post: Surroundings['post'];
  readonly #cell: Surroundings['cell'];
  readonly #waiting = new Map<string, Waiting>();
  #count = 0;

  constructor({ post, cell }: Surroundings) {
    this.#post = post;
    this.#cell = cell;
  }

  /** Returns the functions that are globals in cells. */
  functions(): { input: Input; prompt: Prompt; confirm: Confirm } {
    return {
      input: (prompt = '', options = {}) => this.#ask(prompt, options.password === true),
      prompt: (message = 'Prompt', preset) => {
        const hint = preset === undefined ? '' : ` [${preset}]`;
        const value = this.#askNow(`${message}${hint} `);
        return value === '' && preset !== undefined ? preset : value;
      },
      confirm: (message = 'Confirm') => /^y(es)?$/i.test(this.#askNow(`${message} [y/N] `)?.trim() ?? ''),
    };
  }

  /** Delivers the answer to an `input` call. Ignores an unknown id, because then the cell was interrupted meanwhile. */
  settle(id: string, answer: InputAnswer): void {
    const waiting = this.#waiting.get(id);
    this.#waiting.delete(id);
    if (answer.kind === 'value') waiting?.resolve(answer.value);
    else waiting?.reject(problemOf(answer, waiting.asked));
  }

  /** Drops the questions of an interrupted cell; their promises stay pending. */
  forget(cell: string): void {
    for (const [id, { parent }] of this.#waiting) if (parent === cell) this.#waiting.delete(id);
  }

  #ask(prompt: string, password: boolean): Promise<string> {
    const id = this.#nextId();
    const parent = this.#cell();
    const asked = new Error();
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { parent, asked, resolve, reject });
      this.#post({ type: 'input', id, parent, prompt, password });
    });
  }

  #askNow(prompt: string): string | null {
    const gate = createInputSlot();
    this.#post({ type: 'input', id: this.#nextId(), parent: this.#cell(), prompt, password: false, gate });
    const answer = waitForInput(gate);
    if (answer.kind === 'refused') throw problemOf(answer);
    return answer.kind === 'value' ? answer.value : null;
  }

  #nextId(): string {
    return `input-${++this.#count}`;
  }
}

function problemOf(answer: Exclude<InputAnswer, { kind: 'value' }>, asked?: Error): Error {
  const error = new Error(
    answer.kind === 'refused' ? answer.why : 'The input was canceled. Run the cell again to enter a value.',
  );
  if (asked?.stack !== undefined) error.stack = asked.stack.replace(/^Error/, () => `Error: ${error.message}`);
  return error;
}
