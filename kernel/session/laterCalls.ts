type Callback = (error: null) => void;

/**
 * Callbacks of streams for when something is written, called when the code that wrote comes to its end. `console` gives the
 * same one with every line, and a million lines are not to be a million things to remember.
 */
export class LaterCalls {
  #last: { callback: Callback; times: number } | undefined;

  add(callback: Callback): void {
    if (this.#last?.callback === callback) {
      this.#last.times++;
      return;
    }
    const calls = { callback, times: 1 };
    this.#last = calls;
    queueMicrotask(() => {
      if (this.#last === calls) this.#last = undefined;
      for (let i = 0; i < calls.times; i++) callback(null);
    });
  }

  /** To be called when other code begins: what was to come may have been cut off with the code before. */
  forget(): void {
    this.#last = undefined;
  }
}
