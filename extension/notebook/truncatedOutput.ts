/**
 * The text of one stream of a cell, cut beyond a limit. A window that receives a hundred megabytes stops responding,
 * and a notebook that contains the full output of a loop always opens slowly.
 */
export class TruncatedOutput {
  readonly #limit: number;
  readonly #head: string[] = [];
  #headLength = 0;
  #tail: string[] = [];
  #tailLength = 0;
  #length = 0;

  /** @param limit characters to keep; 0 keeps all */
  constructor(limit: number) {
    this.#limit = limit;
  }

  add(text: string): void {
    this.#length += text.length;
    if (this.#limit === 0) return;
    const headRoom = Math.max(0, this.#headLimit - this.#headLength);
    const first = text.slice(0, headRoom);
    if (first) this.#head.push(first);
    this.#headLength += first.length;
    const rest = text.slice(headRoom);
    if (!rest) return;
    this.#tail.push(rest);
    this.#tailLength += rest.length;
    // Join the parts rarely, so that many short lines cost little.
    if (this.#tailLength > 2 * this.#tailLimit) {
      this.#tail = [this.#tail.join('').slice(-this.#tailLimit)];
      this.#tailLength = this.#tailLimit;
    }
  }

  /** Whether `cut` leaves something out. */
  get isOver(): boolean {
    return this.#limit > 0 && this.#length > this.#limit;
  }

  /**
   * Returns the start and the end if the text is over the limit, with the number of omitted characters in between.
   * Returns `undefined` for a shorter text.
   */
  cut(): string | undefined {
    if (!this.isOver) return undefined;
    // Keep whole lines, which also avoids half a surrogate pair.
    const head = this.#head.join('').replace(/(?<=\n)[^\n]*$/, '');
    const tail = this.#tail
      .join('')
      .slice(-this.#tailLimit)
      .replace(/^[^\n]*\n/, '');
    const left = (this.#length - head.length - tail.length).toLocaleString('en-US');
    const note = `… ${left} characters of output are omitted from the notebook. To keep more, increase the setting lanceCatalog.notebook.printedCharacters …`;
    return `${head}${head.endsWith('\n') ? '' : '\n'}${note}\n${tail}`;
  }

  get #headLimit(): number {
    return Math.ceil(this.#limit * 0.75);
  }

  get #tailLimit(): number {
    return this.#limit - this.#headLimit;
  }
}
