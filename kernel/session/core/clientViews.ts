import { randomUUID } from 'node:crypto';
import { cancellable } from '#processes/calls.ts';
import type { FromCore } from '#session/threads/coreMessages.ts';
import type { KernelView, ViewAnswer } from '#shared/protocol/outputTables.ts';

/** Asks the client to show tables in its panel. */
export class ClientViews {
  readonly #post: (message: FromCore) => void;
  readonly #waiting = new Map<string, (answer: ViewAnswer) => void>();

  constructor(post: (message: FromCore) => void) {
    this.#post = post;
  }

  async show(view: KernelView, signal: AbortSignal): Promise<ViewAnswer> {
    const id = `view-${randomUUID()}`;
    const answered = new Promise<ViewAnswer>((resolve) => this.#waiting.set(id, resolve));
    this.#post({ type: 'view', id, view });
    try {
      return await cancellable(answered, signal);
    } finally {
      this.#waiting.delete(id);
    }
  }

  /** Delivers an answer of the client. */
  settle(id: string, answer: ViewAnswer): void {
    this.#waiting.get(id)?.(answer);
    this.#waiting.delete(id);
  }
}
