import type { FromCore, ToCore } from '#session/threads/coreMessages.ts';
import { openGate, type InputAnswer } from './gate.ts';

/** What a front shows to ask a person. */
export type InputQuestion = { id: string; prompt: string; password: boolean };

type Open = { parent: string | null; gate: SharedArrayBuffer | undefined; stop: AbortController };

const nobody =
  'This cell asks for input, but what runs it takes none. Run it in a notebook editor, or give the value in code.';

/** The worker's end of asking a person: which questions are open, and how each answer gets to the code that waits. */
export class OpenQuestions {
  readonly #post: (message: ToCore) => void;
  readonly #open = new Map<string, Open>();

  constructor(post: (message: ToCore) => void) {
    this.#post = post;
  }

  /**
   * Opens a question of the main thread.
   * @param show asks the person; its signal aborts when the answer is no longer wanted. `undefined` refuses
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

  /** Passes an answer on. `false` when nobody waits for it: it came twice, or its cell was interrupted. */
  answer(id: string, answer: InputAnswer): boolean {
    const open = this.#open.get(id);
    if (!open) return false;
    this.#open.delete(id);
    if (open.gate) openGate(open.gate, answer);
    else this.#post({ type: 'inputReply', id, answer });
    return true;
  }

  /** Withdraws the questions of a cell that was interrupted. */
  withdraw(cell: string): void {
    for (const [id, { parent, stop }] of this.#open) {
      if (parent !== cell) continue;
      this.#open.delete(id);
      stop.abort();
    }
  }
}
