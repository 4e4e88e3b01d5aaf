import type { Header, JupyterMessage } from './jupyterFrames.ts';

export type Channel = 'shell' | 'control';
/** A request that is being answered. */
export type Asked = { message: JupyterMessage; channel: Channel; started?: string; timer?: NodeJS.Timeout };

/** Requests whose client and header are kept once they are answered, so that late output still has its cell as parent. */
const keptParents = 1000;

/** Requests by the ids under which the queue knows them. */
export class AskedRequests {
  readonly #asked = new Map<string, Asked>();
  /** Those that were answered. A cell may run for hours while thousands of others are, in subshells for instance. */
  readonly #answered = new Map<string, JupyterMessage>();
  #next = 0;
  #latest: Header | undefined;

  /** Keeps a request until it is taken; gives its id. */
  add(asked: Asked): string {
    const id = String(++this.#next);
    this.#asked.set(id, asked);
    return id;
  }

  get(id: string): Asked | undefined {
    return this.#asked.get(id);
  }

  /** The request, which counts as answered from here on; `undefined` when it was before. */
  take(id: string): Asked | undefined {
    const asked = this.#asked.get(id);
    if (!asked) return undefined;
    this.#asked.delete(id);
    clearTimeout(asked.timer);
    // Not its content, which may be megabytes.
    this.#answered.set(id, { ...asked.message, content: {}, buffers: [] });
    const oldest = this.#answered.keys().next();
    if (this.#answered.size > keptParents && !oldest.done) this.#answered.delete(oldest.value);
    return asked;
  }

  /** Who sent a request, also when it is answered. */
  sender(id: string): JupyterMessage | undefined {
    return this.#asked.get(id)?.message ?? this.#answered.get(id);
  }

  /** The parent of what a request makes happen; for an unknown one that of the cell that ran last. */
  parentOf(id: string): Header | undefined {
    return this.sender(id)?.header ?? this.#latest;
  }

  /** Says that the turn of a cell has come. */
  begin(id: string): void {
    this.#latest = this.parentOf(id);
    const asked = this.#asked.get(id);
    if (asked) asked.started = new Date().toISOString();
  }
}
