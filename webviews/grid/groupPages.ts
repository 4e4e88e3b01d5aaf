import { isAbort } from '#shared/errors.ts';
import { pageRows as maxPageRows } from '#shared/mime.ts';
import { type ColumnGroup, probeRows, rowsOfPage } from './columnGroups.ts';
import { type Block, cellText, emptyFailedCell, failedCell, type GridCell } from './block.ts';
import type { CellValue } from './cellValue.ts';
import type { PageBudget } from './pageBudget.ts';
import { Pages } from './pages.ts';

type LoadBlock = (start: number, end: number, signal: AbortSignal) => Promise<{ value: Block; bytes: number }>;

export type GroupPagesOptions = {
  readonly group: ColumnGroup;
  /** The number of rows at first; see `grow`. */
  readonly numRows: number;
  readonly budget: PageBudget;
  readonly load: LoadBlock;
  readonly onChange: () => void;
  /** Milliseconds; the clock of the page if it isn't given. */
  readonly now?: () => number;
};

/** Heavy columns with more bytes in as many rows as a page may have are not loaded ahead of the view. */
const aheadBytes = 2 ** 20;

/**
 * The loaded rows of a group of columns. If the width of its rows is not known, a few rows are read first, and their
 * bytes decide how many rows a page has.
 */
export class GroupPages {
  readonly #options: GroupPagesOptions;
  #numRows: number;
  /** Positions of the columns in the loaded rows. */
  readonly #positions: ReadonlyMap<number, number>;
  #pages: Pages<Block> | undefined;
  #probe: { start: number; end: number; block: Block } | undefined;
  #probing: Promise<void> | undefined;
  #hiding = new AbortController();
  #isClosed = false;
  /** The rows that the view has asked for last; none while the columns are out of the view. */
  #view = { start: 0, end: 0 };

  constructor(options: GroupPagesOptions) {
    this.#options = options;
    this.#numRows = options.numRows;
    this.#positions = new Map(options.group.columns.map((column, position) => [column, position]));
    const { rowBytes } = options.group;
    if (rowBytes !== undefined) this.#pages = this.#newPages(rowBytes);
  }

  get isHeavy(): boolean {
    return this.#options.group.isHeavy;
  }

  get failures(): readonly { start: number; end: number; error: Error }[] {
    return this.#pages?.failures ?? [];
  }

  async show(start: number, end: number): Promise<void> {
    if (end <= start || this.#isClosed) return;
    this.#view = { start, end };
    if (!this.#pages) await (this.#probing ??= this.#look());
    // The view may have moved on during the look.
    await this.#pages?.show(this.#view.start, this.#view.end);
  }

  /** The columns have left the view: cancels all reads. The budget may drop the loaded rows from now on. */
  hide(): void {
    if (this.#view.end === 0) return;
    this.#view = { start: 0, end: 0 };
    this.#hiding.abort();
    this.#hiding = new AbortController();
    this.#probing = undefined;
    this.#pages?.hide();
  }

  cell(row: number, column: number): GridCell | undefined {
    const position = this.#positions.get(column)!;
    const page = this.#pages?.at(row);
    if (page?.state === 'loaded') return page.value.cell(row - page.start, position);
    const probe = this.#probe;
    if (probe && row >= probe.start && row < probe.end) return probe.block.cell(row - probe.start, position);
    if (page?.state !== 'failed') return undefined;
    return position === 0 ? failedCell(page.error) : emptyFailedCell;
  }

  exactText(row: number, column: number): string | undefined {
    const page = this.#pages?.at(row);
    if (page?.state !== 'loaded') return undefined;
    const position = this.#positions.get(column)!;
    const cell = page.value.cell(row - page.start, position);
    return cellText(cell, () => page.value.exactText(row - page.start, position));
  }

  /** Returns the whole value of a cell, if its row is loaded. */
  value(row: number, column: number): Promise<CellValue> | undefined {
    const page = this.#pages?.at(row);
    return page?.state === 'loaded' ? page.value.value(row - page.start, this.#positions.get(column)!) : undefined;
  }

  /** Sets the number of rows after rows were added. */
  grow(numRows: number): void {
    this.#numRows = numRows;
    void this.#pages?.grow(numRows).catch(() => {});
  }

  retry(): void {
    void this.#pages?.retry().catch(() => {});
  }

  /** Forgets the loaded rows, and loads those in the view again. */
  reload(): void {
    this.#probe = undefined;
    void this.#pages?.reload().catch(() => {});
  }

  close(): void {
    this.#isClosed = true;
    this.#hiding.abort();
    this.#pages?.close();
    this.#probe = undefined;
  }

  /** Reads a few rows to learn the width of a row. If they can't be read, the pages tell why. */
  async #look(): Promise<void> {
    const { load, onChange } = this.#options;
    const { start } = this.#view;
    const end = Math.min(this.#numRows, start + probeRows);
    const { signal } = this.#hiding;
    let rowBytes = 0;
    try {
      const { value, bytes } = await load(start, end, signal);
      if (signal.aborted) return;
      this.#probe = { start, end, block: value };
      rowBytes = bytes / (end - start);
    } catch (error) {
      if (isAbort(error)) return;
    }
    if (signal.aborted) return;
    this.#pages = this.#newPages(rowBytes);
    onChange();
  }

  #newPages(rowBytes: number): Pages<Block> {
    const { load, onChange, budget, group, now } = this.#options;
    const pageRows = rowsOfPage(rowBytes, group.maxRows, group.isHeavy);
    return new Pages<Block>({
      numRows: this.#numRows,
      pageRows,
      budget,
      load,
      onChange,
      ...(now && { now }),
      onLoaded: (block, grow) => block.count(grow),
      isHeavy: group.isHeavy,
      // Blobs are only read for the rows in the view.
      isAhead: group.maxRows === maxPageRows && (!group.isHeavy || maxPageRows * rowBytes <= aheadBytes),
    });
  }
}
