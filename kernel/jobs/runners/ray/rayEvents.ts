import { readEventLine } from '#jobs/eventLines.ts';
import type { NewEvent, RunContext } from '#jobs/runners/runner.ts';

// Ray colors its own messages.
// oxlint-disable-next-line no-control-regex -- that is what a colour begins with
const colours = /\u001B\[[0-9;]*m/g;

/** Removes color codes from log text. */
const plainText = (text: string): string => text.replaceAll(colours, '');

/** Splits text that arrives in pieces into lines. */
class Lines {
  #rest = '';

  /** Number of characters of the incomplete line. */
  get rest(): number {
    return this.#rest.length;
  }

  /** @returns the lines that are complete */
  take(text: string): string[] {
    const lines = (this.#rest + text).split('\n');
    this.#rest = lines.pop() ?? '';
    return lines;
  }

  /** @returns the incomplete line, if any */
  end(): string[] {
    const rest = this.#rest;
    this.#rest = '';
    return rest === '' ? [] : [rest];
  }
}

/** The event by which a driver reported its end. */
export type DriverEnd = Extract<NewEvent, { kind: 'succeeded' | 'failed' | 'cancelled' }>;

/** Emits the events in a driver's output, and writes the rest to the job's log. */
export class RayEvents {
  readonly #context: RunContext;
  readonly #lines = new Lines();
  readonly #onKnown: (characters: number) => void;
  /** The end that the driver reported. Not emitted here, because the state of the job in Ray decides. */
  end: DriverEnd | undefined;

  /** @param onKnown receives the log position up to which output was handled, where the next process continues */
  constructor(context: RunContext, onKnown: (characters: number) => void) {
    this.#context = context;
    this.#onKnown = onKnown;
  }

  /** @param known number of characters of the whole log, including this text */
  take(text: string, known: number): void {
    this.#tell(this.#lines.take(text));
    this.#onKnown(known - this.#lines.rest);
  }

  /** Handles the incomplete last line. */
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
