import type { JobView } from '#shared/jobs/jobView.ts';
import { isActive } from '#shared/jobs/jobLabels.ts';

type ReadLog = (from: number, signal: AbortSignal) => Promise<{ text: string; next: number }>;

/** Maximum number of lines in memory. The job's log file has all lines. */
const maxLines = 1000;
/** Milliseconds between reads that find no new text. */
const pause = 700;

/** Reads the end of a job's log as it grows. */
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

  /** Whether earlier lines are missing. */
  get isCut(): boolean {
    return this.#isCut;
  }

  /** Follows the log of a job; stops if there is no job. */
  follow(job: JobView | undefined): void {
    this.#isActive = job !== undefined && isActive(job);
    if (job?.id === this.#id && (this.#reading || !this.#isActive)) return;
    // A resumed job appends to the same log. Read the whole log again, because a resume is rare and the read is cheap.
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
      // Check whether the job is active before the read. Text that the job writes at its very end is then still read.
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
