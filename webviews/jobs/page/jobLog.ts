import type { JobView } from '#shared/jobs/jobView.ts';
import { isActive } from '#shared/jobs/jobLabels.ts';

type ReadLog = (from: number, signal: AbortSignal) => Promise<{ text: string; next: number }>;

/** Lines that are kept: what is longer ago is in the file that the job keeps. */
const maxLines = 1000;
/** How long a log that has no more to say is left alone, in milliseconds. */
const pause = 700;

/** The end of a job's log, read on as it grows. */
export class JobLog {
  readonly #read: ReadLog;
  readonly #onChange: () => void;
  #id: string | undefined;
  #isActive = false;
  #reading: AbortController | undefined;
  #lines: readonly string[] = [];
  #isCut = false;

  constructor(read: ReadLog, onChange: () => void) {
    this.#read = read;
    this.#onChange = onChange;
  }

  /** The last lines, the newest at the end. */
  get lines(): readonly string[] {
    return this.#lines;
  }

  /** Whether there were more lines before the first. */
  get isCut(): boolean {
    return this.#isCut;
  }

  /** Reads the log of this job from now on; of none without one. */
  follow(job: JobView | undefined): void {
    this.#isActive = job !== undefined && isActive(job);
    if (job?.id === this.#id && (this.#reading || !this.#isActive)) return;
    // One that was resumed writes on in the same log: all of it is read again, which is seldom and cheap.
    this.close();
    this.#id = job?.id;
    this.#lines = [];
    this.#isCut = false;
    if (job) void this.#follow();
  }

  close(): void {
    this.#reading?.abort();
    this.#reading = undefined;
  }

  async #follow(): Promise<void> {
    const reading = new AbortController();
    this.#reading = reading;
    const { signal } = reading;
    let from = 0;
    let open = '';
    while (!signal.aborted) {
      // Asked before the reading, so that what is written at the very end is read once more.
      const goesOn = this.#isActive;
      const read = await this.#read(from, signal).catch(() => undefined);
      if (signal.aborted) return;
      if (read && read.text !== '') {
        from = read.next;
        const parts = (open + read.text).split('\n');
        open = parts.pop() ?? '';
        this.#append(parts);
        continue;
      }
      if (!goesOn) break;
      await new Promise((resolve) => setTimeout(resolve, pause));
    }
    if (open !== '' && !signal.aborted) this.#append([open]);
    if (this.#reading === reading) this.#reading = undefined;
  }

  #append(lines: readonly string[]): void {
    const all = [...this.#lines, ...lines];
    this.#isCut ||= all.length > maxLines;
    this.#lines = all.slice(-maxLines);
    this.#onChange();
  }
}
