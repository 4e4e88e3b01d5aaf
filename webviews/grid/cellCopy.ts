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

/** The cells to copy, or the names of their columns if the header is active. */
export type SelectedCells = CopiedRange & { readonly isHeader: boolean };

export type CellCopyDeps = {
  readonly frame: GridFrame;
  /** Shows a notice, or none. */
  readonly tell: (notice: Notice | undefined) => void;
  readonly selected: () => SelectedCells;
};

/**
 * Copies cells to the clipboard. Loaded cells are copied at once. Others are read first, with progress, and can be
 * canceled. A large text is copied only after a question.
 */
export class CellCopy {
  readonly #frame: GridFrame;
  readonly #tell: (notice: Notice | undefined) => void;
  readonly #selected: () => SelectedCells;
  #running: AbortController | undefined;

  constructor({ frame, tell, selected }: CellCopyDeps) {
    this.#frame = frame;
    this.#tell = tell;
    this.#selected = selected;
  }

  get isRunning(): boolean {
    return this.#running !== undefined;
  }

  /** Copies the selected cells, and tells how far it has come. */
  copy(form: CopyForm): void {
    const cells = this.#selected();
    const text = this.#loadedText(cells, form);
    if (text === undefined) void this.#copyUnloaded(cells, form);
    else void this.write(text);
  }

  /** Fills the clipboard in the browser's own event, which needs no permission. */
  onCopyEvent(event: ClipboardEvent): void {
    const text = this.#loadedText(this.#selected(), 'tsv');
    event.preventDefault();
    event.stopPropagation();
    if (text === undefined) this.copy('tsv');
    else event.clipboardData?.setData('text/plain', text);
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

  /** Returns the text if all cells are loaded and it is not large; `undefined` otherwise. */
  #loadedText({ isHeader, ...range }: SelectedCells, form: CopyForm): string | undefined {
    if (isHeader) return range.columns.map((column) => this.#frame.columns[column]!.name).join('\t');
    if ((range.endRow - range.startRow) * range.columns.length > maxAtOnce) return undefined;
    const text = copyCells(this.#frame, range, form);
    return text === undefined || text.length > askBytes ? undefined : text;
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
