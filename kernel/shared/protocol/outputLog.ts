import type { KernelMessage } from './kernelMessages.ts';

/** Characters of text kept from the start of a run, and from its end if there is more. */
const headChars = 1_000_000;
const tailChars = 200_000;
/** Maximum characters that are dropped in addition, so that the kept text starts with a whole line. */
const mostOfLine = 1000;
/** Maximum characters of displayed values, such as tables and images. If they have more, the oldest are dropped. */
const shownChars = 32_000_000;

/** The bounded output of one run of a cell, because a loop that prints for hours must not fill the memory. */
export class OutputLog {
  /** All messages until the text exceeds its limit. */
  #head: KernelMessage[] = [];
  #headChars = 0;
  /** All later messages. */
  #tail: KernelMessage[] = [];
  #tailChars = 0;
  #isOver = false;
  #shown = 0;
  #lostChars = 0;
  #lostValues = 0;

  add(message: KernelMessage): void {
    // `clear_output` clears the log at once, even with `wait`, because a client that attaches later does not need to
    // know when the output was cleared.
    if (message.type === 'clear_output') this.clear();
    if (message.type === 'stream') return this.#addText(message);
    if (message.type === 'update_display_data') this.#dropUpdate(message.content.displayId);
    this.#push(message);
    this.#shown += sizeOf(message);
    while (this.#shown > shownChars && this.#dropFirstValue());
  }

  clear(): void {
    this.#head = [];
    this.#tail = [];
    this.#isOver = false;
    this.#headChars = this.#tailChars = this.#shown = this.#lostChars = this.#lostValues = 0;
  }

  /** Returns the kept messages in order, with a note for the dropped messages. */
  messages(parent: string): KernelMessage[] {
    const notes: string[] = [];
    if (this.#lostChars > 0) notes.push(`${this.#lostChars} characters`);
    if (this.#lostValues > 0) notes.push(`${this.#lostValues} values`);
    if (notes.length === 0) return [...this.#head, ...this.#tail];
    const text = `\n… ${notes.join(' and ')} were shown here, and are not kept …\n`;
    return [...this.#head, { type: 'stream', parent, content: { name: 'stderr', text } }, ...this.#tail];
  }

  #addText(message: Extract<KernelMessage, { type: 'stream' }>): void {
    const { length } = message.content.text;
    if (!this.#isOver && this.#headChars + length <= headChars) {
      this.#headChars += length;
      this.#head.push(message);
      return;
    }
    this.#isOver = true;
    this.#tail.push(message);
    this.#tailChars += length;
    while (this.#tailChars > tailChars) this.#dropFirstText(this.#tailChars - tailChars);
  }

  /** Drops at least this many characters of the first text after the limit, or that whole text if it is shorter. */
  #dropFirstText(chars: number): void {
    const at = this.#tail.findIndex(({ type }) => type === 'stream');
    const first = this.#tail[at];
    if (first?.type !== 'stream') return;
    const { text } = first.content;
    const line = text.indexOf('\n', chars - 1) + 1;
    const lost = Math.min(line > 0 && line - chars < mostOfLine ? line : chars, text.length);
    const rest = text.slice(lost);
    this.#tail.splice(at, 1, ...(rest === '' ? [] : [{ ...first, content: { ...first.content, text: rest } }]));
    this.#tailChars -= lost;
    this.#lostChars += lost;
  }

  #push(message: KernelMessage): void {
    if (this.#isOver) this.#tail.push(message);
    else this.#head.push(message);
  }

  #dropFirstValue(): boolean {
    for (const list of [this.#head, this.#tail]) {
      const at = list.findIndex((one) => bundleOf(one) !== undefined);
      const [dropped] = at < 0 ? [] : list.splice(at, 1);
      if (!dropped) continue;
      this.#shown -= sizeOf(dropped);
      this.#lostValues++;
      return true;
    }
    return false;
  }

  // Drops the earlier update of an output, because some outputs are updated many times a second.
  #dropUpdate(displayId: string): void {
    for (const list of [this.#head, this.#tail]) {
      const at = list.findLastIndex((one) => one.type === 'update_display_data' && one.content.displayId === displayId);
      const [dropped] = at < 0 ? [] : list.splice(at, 1);
      if (dropped) this.#shown -= sizeOf(dropped);
    }
  }
}

const bundleOf = (message: KernelMessage): Record<string, unknown> | undefined =>
  'content' in message && 'data' in message.content && message.type !== 'inspect_reply'
    ? message.content.data
    : undefined;

const sizeOf = (message: KernelMessage): number =>
  Object.values(bundleOf(message) ?? {}).reduce<number>(
    (sum, value) => sum + (typeof value === 'string' ? value.length : (JSON.stringify(value)?.length ?? 0)),
    0,
  );
