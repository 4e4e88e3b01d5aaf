// Ray colours what it says itself.
// oxlint-disable-next-line no-control-regex -- that is what a colour begins with
const colours = /\u001B\[[0-9;]*m/g;

/** The text of a log without what terminals are told by it. */
export const plainText = (text: string): string => text.replaceAll(colours, '');

/** Cuts a text that comes in pieces into lines. */
export class Lines {
  #rest = '';

  /** Characters of the line that is not whole yet. */
  get rest(): number {
    return this.#rest.length;
  }

  /** @returns the lines that are whole now */
  take(text: string): string[] {
    const lines = (this.#rest + text).split('\n');
    this.#rest = lines.pop() ?? '';
    return lines;
  }

  /** @returns what is left at the end, which is a line too */
  end(): string[] {
    const rest = this.#rest;
    this.#rest = '';
    return rest === '' ? [] : [rest];
  }
}
