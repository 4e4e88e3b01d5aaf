import { randomUUID } from 'node:crypto';
import { isCatalogError } from '#shared/errors.ts';

/** How something is opened and closed in the views process under an id, and the listeners of its states. */
export type OpenedViewCalls<Opened, State> = {
  /** Calls a listener with each state; with `undefined` if the process has ended. */
  readonly listen: (id: string, listener: (state: State | undefined) => void) => { dispose(): void };
  readonly open: (id: string, signal: AbortSignal) => Promise<Opened>;
  readonly close: (id: string) => Promise<unknown>;
  /** Called after `open`, before those that wait for it continue. */
  readonly onOpened: (opened: Opened) => void;
  readonly onState: (state: State | undefined) => void;
};

/**
 * A view or a comparison in the views process. It is opened by the first request. If that process or the engine has
 * ended, the next request opens it again, under another id.
 */
export class OpenedView<Opened, State> {
  readonly #calls: OpenedViewCalls<Opened, State>;
  readonly #closing = new AbortController();
  #opened: { readonly id: string; readonly done: Promise<Opened>; stop(): void } | undefined;

  constructor(calls: OpenedViewCalls<Opened, State>) {
    this.#calls = calls;
  }

  /** `undefined` while nothing is open. */
  get id(): string | undefined {
    return this.#opened?.id;
  }

  /** Opens it, unless it is open. */
  open(): { readonly id: string; readonly done: Promise<Opened> } {
    this.#closing.signal.throwIfAborted();
    if (this.#opened) return this.#opened;
    const id = randomUUID();
    const controller = new AbortController();
    const listening = this.#calls.listen(id, (state) => this.#take(id, state));
    const stop = (): void => {
      listening.dispose();
      controller.abort();
    };
    const opened = { id, done: this.#start(id, controller.signal), stop };
    this.#opened = opened;
    opened.done.catch(() => {
      stop();
      if (this.#opened === opened) this.#opened = undefined;
    });
    return opened;
  }

  /** Returns the id, once it is open. */
  async openedId(signal: AbortSignal): Promise<string> {
    signal.throwIfAborted();
    const { id, done } = this.open();
    await done;
    return id;
  }

  /** Runs a request about what is open; if the engine process has ended meanwhile, runs it again. */
  async read<T>(signal: AbortSignal, read: (id: string) => Promise<T>): Promise<T> {
    const id = await this.openedId(signal);
    try {
      return await read(id);
    } catch (error) {
      if (!isCatalogError(error, 'ServiceUnavailable') || signal.aborted) throw error;
      // The engine process has ended, and the next one has another address. Another request may have noticed it before.
      if (this.#opened?.id === id) this.#forget();
      return await read(await this.openedId(signal));
    }
  }

  /** Closes it for good. */
  close(): void {
    this.#closing.abort();
    this.#forget();
  }

  async #start(id: string, signal: AbortSignal): Promise<Opened> {
    const opened = await this.#calls.open(id, signal);
    if (this.#opened?.id === id) this.#calls.onOpened(opened);
    return opened;
  }

  #take(id: string, state: State | undefined): void {
    if (this.#opened?.id !== id) return;
    if (!state) {
      this.#opened.stop();
      this.#opened = undefined;
    }
    this.#calls.onState(state);
  }

  /** Closes it in the views process. The next request opens it again. */
  #forget(): void {
    const opened = this.#opened;
    this.#opened = undefined;
    if (!opened) return;
    opened.stop();
    // A request that was canceled has opened nothing.
    this.#calls.close(opened.id).catch(() => undefined);
  }
}
