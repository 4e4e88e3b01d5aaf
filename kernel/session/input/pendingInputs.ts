import type { FromCore, ToCore } from '#session/threads/coreMessages.ts';
import { answerInput, type InputAnswer } from './gate.ts';

export type InputQuestion = { id: string; prompt: string; password: boolean };

type Open = { parent: string | null; gate: SharedArrayBuffer | undefined; stop: AbortController };

const nobody =
  'This cell asks for input, but the program that runs it does not support input. Run the cell in a notebook editor, or set the value in code.';

/** The worker's side of user input: the open questions, and how each answer reaches the waiting code. */
export class PendingInputs {
  readonly #post: (message: ToCore) => void;
  readonly #open = new Map<string, Open>();

  constructor(post: (message: ToCore) => void) {
    this.#post = post;
  }

  /**
   * Opens a question from the main thread.
   * @param show asks the user; its signal aborts when the answer is no longer needed. If `show` is `undefined`, the
   * question is refused
   */
  ask(
    message: Extract<FromCore, { type: 'input' }>,
    show: ((question: InputQuestion, signal: AbortSignal) => void) | undefined,
  ): void {
    const { id, parent, prompt, password, gate } = message;
    const stop = new AbortController();
    this.#open.set(id, { parent, gate, stop });
    if (show) show({ id, prompt, password }, stop.signal);
    else this.answer(id, { kind: 'refused', why: nobody });
  }

  /**
   * Delivers an answer. Returns `false` for an unknown id: the question was already answered, or its cell was
   * interrupted.
   */
  answer(id: string, answer: InputAnswer): boolean {
    const open = this.#open.get(id);
    if (!open) return false;
    this.#open.delete(id);
    if (open.gate) answerInput(open.gate, answer);
    else this.#post({ type: 'inputReply', id, answer });
    return true;
  }

  withdraw(cell: string): void {
    for (const [id, { parent, stop }] of this.#open) {
      if (parent !== cell) continue;
      this.#open.delete(id);
      stop.abort();
    }
  }
}
