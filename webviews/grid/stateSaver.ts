import type { GridState } from './gridOptions.ts';

/** How long a state must stay before it is kept, because scrolling changes it with each frame. */
const delayMs = 200;

/** Keeps the state of a grid a moment after it has changed. */
export class StateSaver {
  readonly #read: () => GridState;
  readonly #save: ((state: GridState) => void) | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(read: () => GridState, save: ((state: GridState) => void) | undefined) {
    this.#read = read;
    this.#save = save;
  }

  saveSoon(): void {
    const save = this.#save;
    if (!save) return;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => save(this.#read()), delayMs);
  }

  close(): void {
    clearTimeout(this.#timer);
  }
}
