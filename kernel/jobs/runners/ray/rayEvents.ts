import { readEventLine } from '#jobs/eventLines.ts';
import type { NewEvent, RunContext } from '#jobs/runners/runner.ts';

// Ray colours what it says itself.
// oxlint-disable-next-line no-control-regex -- that is what a colour begins with
const colours = /\u001B\[[0-9;]*m/g;

/** The text of a log without what terminals are told by it. */
const plainText = (text: string): string => text.replaceAll(colours, '');

/** Cuts a text that comes in pieces into lines. */
class Lines {
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

/** What a driver said of how it ended. */
export type DriverEnd = Extract<NewEvent, { kind: 'succeeded' | 'failed' | 'cancelled' }>;

/** Tells the events in what a driver printed, and gives the rest to the job's log. */
export class RayEvents {
  readonly #context: RunContext;
  readonly #lines = new Lines();
  readonly #onKnown: (characters: number) => void;
  /** How it ended, once it has said so. It is not told by this: Ray knows too, and better. */
  end: DriverEnd | undefined;

  /** @param onKnown told up to where the log has been told, for a process that goes on from there */
  constructor(context: RunContext, onKnown: (characters: number) => void) {
    this.#context = context;
    this.#onKnown = onKnown;
  }

  /** @param known characters of the whole log, this text included */
  take(text: string, known: number): void {
    this.#tell(this.#lines.take(text));
    this.#onKnown(known - this.#lines.rest);
  }

  /** Tells the last line, which nobody will end. */
  finish(): void {
    this.#tell(this.#lines.end());
  }

  #tell(lines: readonly string[]): void {
    const others: string[] = [];
    for (const line of lines) {
      const event = readEventLine(line);
      if (!event) others.push(line);
      else if (event.kind === 'succeeded' || event.kind === 'failed' || event.kind === 'cancelled') this.end = event;
      else this.#context.emit(event);
    }
    if (others.length > 0) this.#context.log(`${plainText(others.join('\n'))}\n`);
  }
}
