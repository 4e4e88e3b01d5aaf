import type { CellOutput } from '#session/threads/coreMessages.ts';

type Stream = Extract<CellOutput, { type: 'stream' }>;
const flushMs = 10;
const flushChars = 128 * 1024;

/** Joins text that a cell prints in quick succession, and keeps its order relative to other outputs. */
export class StreamBuffer {
  readonly #send: (id: string, output: CellOutput) => void;
  #pending: { id: string; name: Stream['content']['name']; parts: string[]; length: number } | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(send: (id: string, output: CellOutput) => void) {
    this.#send = send;
  }

  pass(id: string, output: CellOutput): void {
    if (output.type !== 'stream') {
      this.flush();
      return this.#send(id, output);
    }
    const { name, text } = output.content;
    if (this.#pending && (this.#pending.id !== id || this.#pending.name !== name)) this.flush();
    this.#pending ??= { id, name, parts: [], length: 0 };
    this.#pending.parts.push(text);
    this.#pending.length += text.length;
    if (this.#pending.length > flushChars) return this.flush();
    this.#timer ??= setTimeout(() => this.flush(), flushMs);
  }

  flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const pending = this.#pending;
    this.#pending = undefined;
    if (pending)
      this.#send(pending.id, { type: 'stream', content: { name: pending.name, text: pending.parts.join('') } });
  }
}
