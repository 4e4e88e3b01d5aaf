import type { FromCore, ToCore } from '#session/threads/coreMessages.ts';
import type { CommMessage } from './commTypes.ts';

/** How a client protocol handles comms. */
export type CommEvents = {
  /** Called when the notebook sends a message; `parent` is the cell or the request whose code sent it. */
  comm(parent: string | null, message: CommMessage): void;
  /** Called when the handlers for a client's message have returned. */
  commDone(id: string): void;
};

/** The worker's records of comms. The worker knows the open comms even while a cell keeps the main thread busy. */
export class CommRegistry {
  readonly #post: (message: ToCore) => void;
  readonly #events: () => CommEvents | undefined;
  readonly #open = new Map<string, string>();
  readonly #handled = new Set<string>();

  constructor(post: (message: ToCore) => void, events: () => CommEvents | undefined) {
    this.#post = post;
    this.#events = events;
  }

  /** Returns the open comms with their targets, optionally only the comms of one target. */
  list(target?: string): { commId: string; target: string }[] {
    return [...this.#open]
      .map(([commId, name]) => ({ commId, target: name }))
      .filter((each) => target === undefined || each.target === target);
  }

  /**
   * Forwards a client's message if its comm is open. `id` is the client's id of the message, which `commDone` reports.
   */
  send(id: string, message: CommMessage): void {
    if (message.kind !== 'open' && !this.#open.has(message.commId)) return this.#events()?.commDone(id);
    this.#note(message);
    this.#handled.add(id);
    this.#post({ type: 'comm', id, message });
  }

  /** Handles a message that the notebook sends to its client. */
  receive(message: Extract<FromCore, { type: 'comm' | 'commDone' }>): void {
    if (message.type === 'comm') {
      this.#note(message.message);
      this.#events()?.comm(message.parent, message.message);
    } else if (this.#handled.delete(message.id)) this.#events()?.commDone(message.id);
  }

  /** Reports pending messages as done, because the interrupted notebook will not report them. */
  giveUp(): void {
    for (const id of this.#handled) this.#events()?.commDone(id);
    this.#handled.clear();
  }

  #note(message: CommMessage): void {
    if (message.kind === 'open') this.#open.set(message.commId, message.target);
    else if (message.kind === 'close') this.#open.delete(message.commId);
  }
}
