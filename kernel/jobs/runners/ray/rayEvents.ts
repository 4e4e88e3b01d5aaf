import { readEventLine } from '#jobs/eventLines.ts';
import type { NewEvent, RunContext } from '#jobs/runners/runner.ts';

// Ray colors its own messages.
// oxlint-disable-next-line no-control-regex -- color codes start with a control character
const colors = /\u001B\[[0-9;]*m/g;

const plainText = (text: string): string => text.replaceAll(colors, '');

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

export type DriverEnd = Extract<NewEvent, { kind: 'succeeded' | 'failed' | 'cancelled' }>;

/** Emits the events in a driver's output and logs the rest. */
export class RayEvents {
  readonly #context: RunContext;
  readonly #lines = new Lines();
  readonly #onKnown: (characters: number) => void;
  /**
   * The end as the driver reported it. The end is not emitted as an event here, because the state of the job in Ray
   * decides how the job ended.
   */
  end: DriverEnd | undefined;

  /** @param onKnown receives the position up to which the log was handled; the next process continues there */
  constructor(context: RunContext, onKnown: (characters: number) => void) {
    this.#context = context;
    this.#onKnown = onKnown;
  }

  /** @param known characters of the whole log, including this text */
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
