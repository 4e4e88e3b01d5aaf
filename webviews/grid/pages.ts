import { isAbort } from '#shared/errors.ts';

/** Gives the rows [start, end) as something of a size in bytes. */
type LoadPage<T> = (start: number, end: number, signal: AbortSignal) => Promise<{ value: T; bytes: number }>;

/** What is known of a page; `undefined` in its place means that it was never asked for, or dropped since. */
type Page<T> =
  | { state: 'loading'; start: number; end: number; done: Promise<void>; abort(): void }
  | { state: 'loaded'; start: number; end: number; value: T; bytes: number }
  | { state: 'failed'; start: number; end: number; error: Error };

type PagesOptions<T> = {
  readonly numRows: number;
  readonly pageRows: number;
  readonly load: LoadPage<T>;
  /** Called when a page was loaded or failed. */
  readonly onChange: () => void;
  /** Pages beyond this are dropped, the longest unseen first; what is on the screen always stays. */
  readonly maxBytes?: number;
};

/** Pages beside the visible ones that may go on loading when the view moves; farther ones are called off. */
const nearPages = 3;

/**
 * The pages of a large table that are in memory. The view says which rows it shows, this loads them, then the next page in
 * the direction of scrolling. A page load belongs to this store and not to the view that asked first: a grid moves on with
 * nearly every frame of a scroll, and a load that was called off each time would never land.
 */
export class Pages<T> {
  readonly #options: PagesOptions<T>;
  readonly #maxBytes: number;
  /** By page number; the order of insertion is the order of use. */
  readonly #pages = new Map<number, Page<T>>();
  #bytes = 0;
  #first = 0;
  #last = -1;
  #views = 0;
  #closed = false;

  constructor(options: PagesOptions<T>) {
    this.#options = options;
    this.#maxBytes = options.maxBytes ?? 64 * 1024 * 1024;
  }

  /** Bytes of the pages in memory. */
  get bytes(): number {
    return this.#bytes;
  }

  /** The page that holds a row. */
  at(row: number): Page<T> | undefined {
    return this.#pages.get(Math.floor(row / this.#options.pageRows));
  }

  /** The failed pages, which are all on the screen: others are forgotten, so that they are tried when they come there. */
  get failures(): Extract<Page<T>, { state: 'failed' }>[] {
    return [...this.#pages.values()].filter((page) => page.state === 'failed');
  }

  /**
   * The view shows the rows [start, end). Resolves when their pages are there or have failed, which is no rejection: the
   * page itself says so.
   */
  async show(start: number, end: number): Promise<void> {
    if (this.#closed || end <= start) return;
    const { pageRows, numRows } = this.#options;
    const [first, last] = [Math.floor(start / pageRows), Math.floor((Math.min(end, numRows) - 1) / pageRows)];
    const down = first > this.#first || last > this.#last;
    [this.#first, this.#last] = [first, last];
    const view = ++this.#views;
    this.#leave();
    const loads: Promise<void>[] = [];
    for (let number = first; number <= last; number++) loads.push(this.#want(number));
    await Promise.all(loads);
    // The view may have moved on meanwhile, and then the page beside it is for another call to load.
    if (this.#views === view) await this.#want(down ? last + 1 : first - 1);
  }

  /** Asks again for the pages on the screen that failed. */
  async retry(): Promise<void> {
    for (const page of this.failures) this.#pages.delete(page.start / this.#options.pageRows);
    const { pageRows, numRows } = this.#options;
    await this.show(this.#first * pageRows, Math.min(numRows, (this.#last + 1) * pageRows));
  }

  /** Calls off what is under way and lets go of all pages. */
  close(): void {
    this.#closed = true;
    for (const page of this.#pages.values()) if (page.state === 'loading') page.abort();
    this.#pages.clear();
    this.#bytes = 0;
  }

  /** Calls off loads far from the view, and forgets failures out of sight, so that scrolling back tries again. */
  #leave(): void {
    for (const [number, page] of this.#pages) {
      const distance = this.#distance(number);
      if (page.state === 'loading' && distance > nearPages) page.abort();
      if (page.state === 'failed' && distance > 0) this.#pages.delete(number);
    }
  }

  /** How many pages a page is away from the screen. */
  #distance(number: number): number {
    return Math.max(this.#first - number, number - this.#last, 0);
  }

  #want(number: number): Promise<void> {
    const { numRows, pageRows } = this.#options;
    const known = this.#pages.get(number);
    if (known) {
      this.#pages.delete(number);
      this.#pages.set(number, known);
      return known.state === 'loading' ? known.done : Promise.resolve();
    }
    if (this.#closed || number < 0 || number * pageRows >= numRows) return Promise.resolve();
    const start = number * pageRows;
    const end = Math.min(numRows, start + pageRows);
    const controller = new AbortController();
    const done = this.#load(number, start, end, controller.signal);
    const abort = () => {
      this.#pages.delete(number);
      controller.abort();
    };
    this.#pages.set(number, { state: 'loading', start, end, done, abort });
    return done;
  }

  async #load(number: number, start: number, end: number, signal: AbortSignal): Promise<void> {
    let page: Page<T>;
    try {
      page = { state: 'loaded', start, end, ...(await this.#options.load(start, end, signal)) };
    } catch (error) {
      if (!signal.aborted && isAbort(error)) this.#pages.delete(number);
      if (isAbort(error)) return;
      page = { state: 'failed', start, end, error: error instanceof Error ? error : new Error(String(error)) };
    }
    // A load that was called off may come home all the same, after another one took its place.
    if (signal.aborted || this.#closed) return;
    // Of a page that nobody has seen there is nothing to tell.
    if (page.state === 'failed' && this.#distance(number) > 0) return void this.#pages.delete(number);
    this.#pages.set(number, page);
    if (page.state === 'loaded') this.#bytes += page.bytes;
    this.#trim();
    this.#options.onChange();
  }

  #trim(): void {
    for (const [number, page] of this.#pages) {
      if (this.#bytes <= this.#maxBytes) return;
      if (page.state !== 'loaded' || (number >= this.#first && number <= this.#last)) continue;
      this.#pages.delete(number);
      this.#bytes -= page.bytes;
    }
  }
}
