/**
 * What one stream of a cell has printed, cut down beyond a limit: a window that is sent a hundred megabytes stands still,
 * and a notebook that holds all that a loop printed is slow to open for ever after.
 */
export class PrintedText {
  readonly #limit: number;
  readonly #head: string[] = [];
  #headLength = 0;
  #tail: string[] = [];
  #tailLength = 0;
  #length = 0;

  /** @param limit characters that are kept; 0 keeps all */
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
    // Joined seldom, so that many short lines cost little.
    if (this.#tailLength > 2 * this.#tailLimit) {
      this.#tail = [this.#tail.join('').slice(-this.#tailLimit)];
      this.#tailLength = this.#tailLimit;
    }
  }

  /** Whether `cut` leaves something out. */
  get isOver(): boolean {
    return this.#limit > 0 && this.#length > this.#limit;
  }

  /** The beginning and the end of a text that is over the limit, with what is left out counted between; else `undefined`. */
  cut(): string | undefined {
    if (!this.isOver) return undefined;
    // Whole lines, and no half of a character.
    const head = this.#head.join('').replace(/(?<=\n)[^\n]*$/, '');
    const tail = this.#tail
      .join('')
      .slice(-this.#tailLimit)
      .replace(/^[^\n]*\n/, '');
    const left = (this.#length - head.length - tail.length).toLocaleString('en-US');
    const note = `… ${left} characters were printed here and are left out of the notebook. The setting lanceCatalog.notebook.printedCharacters keeps more …`;
    return `${head}${head.endsWith('\n') ? '' : '\n'}${note}\n${tail}`;
  }

  get #headLimit(): number {
    return Math.ceil(this.#limit * 0.75);
  }

  get #tailLimit(): number {
    return this.#limit - this.#headLimit;
  }
}
