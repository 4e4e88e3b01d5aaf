import { isAbort, messageOf } from '#shared/errors.ts';
import { countText, sizeText } from '#shared/format/numbers.ts';
import type { Notice } from '../parts/noticeLine.ts';
import { askBytes, copyRange, maxCopyBytes } from './copyRange.ts';
import { type CopiedRange, copyCells, type CopyForm } from './copyText.ts';
import type { GridFrame } from './frame.ts';

/** Maximum number of cells that are formatted without a pause. */
const maxAtOnce = 200_000;
/** How often the progress is shown, milliseconds. */
const progressMs = 200;

/**
 * Copies cells to the clipboard. Loaded cells are copied at once. Others are read first, with progress, and can be
 * canceled. A large text is copied only after a question.
 */
export class CellCopy {
  readonly #frame: GridFrame;
  readonly #tell: (notice: Notice | undefined) => void;
  #running: AbortController | undefined;

  /** @param tell shows a notice, or none */
  constructor(frame: GridFrame, tell: (notice: Notice | undefined) => void) {
    this.#frame = frame;
    this.#tell = tell;
  }

  get isRunning(): boolean {
    return this.#running !== undefined;
  }

  /** Returns the text if all cells are loaded and it is not large; `undefined` otherwise. */
  loadedText(range: CopiedRange, form: CopyForm): string | undefined {
    if ((range.endRow - range.startRow) * range.columns.length > maxAtOnce) return undefined;
    const text = copyCells(this.#frame, range, form);
    return text === undefined || text.length > askBytes ? undefined : text;
  }

  /** Copies a range, and tells how far it has come. */
  copy(range: CopiedRange, form: CopyForm): void {
    const text = this.loadedText(range, form);
    if (text === undefined) void this.#copyUnloaded(range, form);
    else void this.write(text);
  }

  /** Writes a string to the clipboard. If the page may not write without a click, a button lets the user click. */
  async write(text: string, done?: Notice): Promise<void> {
    try {
      await navigator.clipboard.writeText(text);
      if (done) this.#tell(done);
    } catch {
      // A long read ends after the time in which a page may write. Without the focus, a short one may fail, too.
      const again = { label: 'Copy', run: () => void this.write(text, done) };
      if (done) this.#tell({ text: 'The cells are ready.', actions: [again] });
    }
  }

  cancel(): void {
    this.#running?.abort();
  }

  async #copyUnloaded(range: CopiedRange, form: CopyForm): Promise<void> {
    // A key and the copy event that follows it ask for the same cells.
    if (this.#running) return;
    const controller = new AbortController();
    const { signal } = controller;
    this.#running = controller;
    let toldAt = 0;
    const cancel = { label: 'Cancel', run: () => controller.abort() };
    try {
      const result = await copyRange(this.#frame, range, {
        form,
        signal,
        onProgress: (rows, total) => {
          // Every change is read out by assistive technology.
          if (performance.now() - toldAt < progressMs) return;
          toldAt = performance.now();
          this.#tell({ text: `Copying ${countText(rows)} of ${countText(total)} rows…`, actions: [cancel] });
        },
        confirm: (bytes) => this.#ask(bytes, signal),
      });
      if (result.kind === 'declined') return this.#tell(undefined);
      if (result.kind === 'tooLarge') {
        const [size, most] = [sizeText(result.bytes), sizeText(maxCopyBytes)];
        return this.#tell({ text: `Can't copy about ${size}: the limit is ${most}. Select fewer cells.`, actions: [] });
      }
      const rows = range.endRow - range.startRow;
      await this.write(result.text, {
        text: `Copied ${countText(rows)} rows (${sizeText(result.text.length)}).`,
        actions: [],
      });
    } catch (error) {
      const text = `Can't copy the cells: ${messageOf(error)}`;
      this.#tell(signal.aborted || isAbort(error) ? undefined : { text, actions: [] });
    } finally {
      this.#running = undefined;
    }
  }

  #ask(bytes: number, signal: AbortSignal): Promise<boolean> {
    return new Promise((resolve) => {
      signal.addEventListener('abort', () => resolve(false), { once: true });
      this.#tell({
        text: `Copy about ${sizeText(bytes)}?`,
        actions: [
          { label: 'Copy', run: () => resolve(true) },
          { label: 'Cancel', run: () => resolve(false) },
        ],
      });
    });
  }
}
