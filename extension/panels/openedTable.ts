import { CatalogError } from '#shared/errors.ts';
import type { PanelTable } from '#shared/protocol/webviewMessages.ts';
import { exactBytes, type TableSource } from './tableSource.ts';
import { VersionWatch } from './versionWatch.ts';
import { type ViewBase, ViewSource } from './viewSource.ts';

/** A table that a panel has opened, or a view of one, until it is closed. */
export class OpenedTable {
  readonly source: TableSource;
  /** The table as it was opened. @throws the reason if it can't be opened */
  readonly opened: Promise<PanelTable>;
  readonly #closing = new AbortController();
  /** Set for a table of a catalog. */
  readonly #watch: VersionWatch | undefined;

  /**
   * @param events.onGrown called after the source has more rows, or can't be completed
   * @param events.onLost called with the reason if the rows that were read are gone
   */
  constructor(source: TableSource, { onGrown, onLost }: { onGrown: () => void; onLost: (error: unknown) => void }) {
    const { signal } = this.#closing;
    this.source = source;
    this.opened = source.open(signal);
    const growing = source.growing?.onDidChange(onGrown);
    signal.addEventListener('abort', () => growing?.dispose(), { once: true });
    const confirm = source.confirm?.bind(source);
    this.#watch = confirm && new VersionWatch(confirm, { signal, onLost });
  }

  /** Aborts when the table is closed. */
  get signal(): AbortSignal {
    return this.#closing.signal;
  }

  /** Returns the table with the rows that it has by now. @throws the reason if it can't be opened or completed */
  async current(): Promise<PanelTable> {
    const opened = await this.opened;
    const { growing } = this.source;
    if (growing?.failure) throw growing.failure;
    return { ...opened, ...growing?.growth };
  }

  /** Returns the table. @throws CatalogError InvalidInput (13) if the page means another one by its key */
  async withKey(key: string): Promise<PanelTable> {
    const opened = await this.opened;
    if (opened.key === key) return opened;
    throw new CatalogError('InvalidInput', 'The panel shows another table now.', 'Open this one again.');
  }

  /** Returns what a view of the table needs. @throws CatalogError InvalidInput (13) if it can't have views */
  async viewBase(): Promise<ViewBase> {
    const table = await this.opened;
    const { source } = this;
    if (source.place && table.hasViews === true) return { source, place: source.place, table };
    throw new CatalogError('InvalidInput', `The rows of "${table.title}" can't be filtered or sorted.`, 'Use SQL.');
  }

  /** Returns the id of the view in the views process; null for the table itself. */
  async viewId(): Promise<string | null> {
    return this.source instanceof ViewSource ? this.source.openedId(this.signal) : null;
  }

  /** Checks soon whether the rows that were read still are those of the table. */
  checkSoon(): void {
    this.#watch?.checkSoon();
  }

  /** Returns rows [start, end) as `TableSource.rows` does, in a buffer of their size. */
  async rows(start: number, end: number, signal: AbortSignal, columns?: readonly string[]): Promise<Uint8Array> {
    await this.opened;
    const bytes = exactBytes(await this.source.rows(start, end, signal, columns));
    this.checkSoon();
    return bytes;
  }

  /** Returns bytes of a blob as `TableSource.blob` does. @throws CatalogError InvalidInput (13) if there is none */
  async blob(
    column: string | undefined,
    range: { row: number; start: number; end: number },
    signal: AbortSignal,
  ): Promise<Uint8Array> {
    if (column === undefined || !this.source.blob)
      throw new CatalogError('InvalidInput', 'The table has no such column of blobs.', 'Open the table again.');
    const bytes = exactBytes(await this.source.blob(column, range, signal));
    this.checkSoon();
    return bytes;
  }

  close(): void {
    this.#closing.abort();
  }
}
