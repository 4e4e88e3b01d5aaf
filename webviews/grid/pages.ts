import { isAbort } from '#shared/errors.ts';
import type { CountedPage, PageBudget } from './pageBudget.ts';
import { ScrollSpeed } from './scrollSpeed.ts';

/** Loads rows [start, end) as a value with a size in bytes. */
type LoadPage<T> = (start: number, end: number, signal: AbortSignal) => Promise<{ value: T; bytes: number }>;

/** A page that was requested and not dropped. */
type Page<T> =
  | { state: 'loading'; start: number; end: number; done: Promise<void>; abort(): void }
  | { state: 'loaded'; start: number; end: number; value: T; counted: CountedPage }
  | { state: 'failed'; start: number; end: number; error: Error };

type PagesOptions<T> = {
  /** The number of rows at first; see `grow`. */
  readonly numRows: number;
  readonly pageRows: number;
  readonly load: LoadPage<T>;
  readonly onChange: () => void;
  /** Drops the pages that were not used for the longest time, except visible ones. */
  readonly budget: PageBudget;
  /** Gets each loaded value, and a function that counts further memory of it. */
  readonly onLoaded?: (value: T, grow: (bytes: number) => void) => void;
  /** Whether the page after the visible ones in the scroll direction is loaded too. */
  readonly isAhead?: boolean;
  /**
   * Whether pages are large: few are loaded at once, where the view will be when they arrive, and a load ends when its
   * page leaves the view.
   */
  readonly isHeavy?: boolean;
  /** Milliseconds; the clock of the page if it isn't given. */
  readonly now?: () => number;
};

/** Maximum distance in pages from the view at which a load continues. More distant loads are canceled. */
const nearPages = 3;

/** Number of heavy pages that are loaded at the same time, so that the first ones arrive soon. */
const maxHeavyLoads = 2;

/**
 * The loaded pages of a large table. Loads the rows that the view shows, then the next page in the scroll direction. A
 * scrolling grid calls `show` with nearly every frame, so a new call does not cancel the loads of earlier calls.
 * Otherwise the loads would never finish.
 */
export class Pages<T> {
  readonly #options: PagesOptions<T>;
  #numRows: number;
  /** By page number. */
  readonly #pages = new Map<number, Page<T>>();
  #first = 0;
  #last = -1;
  #views = 0;
  /** Set if pages are large. */
  readonly #speed: ScrollSpeed | undefined;
  #isDown = true;
  /**
   * The page that was last loaded ahead. It is not loaded again for the same view, because it may have been dropped at
   * once if the budget is full.
   */
  #ahead: number | undefined;
  /** Large pages that were loaded where the view will be. As above, they are loaded once for the same view. */
  readonly #tried = new Set<number>();
  #closed = false;

  constructor(options: PagesOptions<T>) {
    this.#options = options;
    this.#numRows = options.numRows;
    if (options.isHeavy === true) this.#speed = new ScrollSpeed(options.now);
  }

  get numRows(): number {
    return this.#numRows;
  }

  /** Sets the number of rows after rows were added. A last page that was not full is loaded again. */
  async grow(numRows: number): Promise<void> {
    const { pageRows, budget } = this.#options;
    const before = this.#numRows;
    this.#numRows = numRows;
    const last = Math.floor(before / pageRows);
    const partial = before % pageRows === 0 ? undefined : this.#pages.get(last);
    if (partial) {
      if (partial.state === 'loading') partial.abort();
      if (partial.state === 'loaded') budget.remove(partial.counted);
      this.#pages.delete(last);
    }
    // The view may show rows that did not exist when it was drawn.
    if (this.#distance(last) === 0) await this.show(this.#first * pageRows, (this.#last + 1) * pageRows);
  }

  at(row: number): Page<T> | undefined {
    return this.#pages.get(Math.floor(row / this.#options.pageRows));
  }

  /**
   * Returns the failed pages. All of them are visible, because an invisible page that fails is dropped and loaded again
   * when the user scrolls to it.
   */
  get failures(): Extract<Page<T>, { state: 'failed' }>[] {
    return [...this.#pages.values()].filter((page) => page.state === 'failed');
  }

  /**
   * Loads the visible rows [start, end). Resolves when their pages have loaded or failed. Never rejects, because each
   * page stores its error.
   */
  async show(start: number, end: number): Promise<void> {
    if (this.#closed || end <= start) return;
    const { pageRows, budget } = this.#options;
    const numRows = this.#numRows;
    const [first, last] = [Math.floor(start / pageRows), Math.floor((Math.min(end, numRows) - 1) / pageRows)];
    if (first !== this.#first || last !== this.#last) {
      this.#isDown = first > this.#first || last > this.#last;
      this.#tried.clear();
    }
    [this.#first, this.#last] = [first, last];
    this.#speed?.move(start / pageRows, end / pageRows);
    const view = ++this.#views;
    this.#leave();
    budget.trim();
    for (let number = first; number <= last; number++) this.#use(number);
    while (this.#views === view) {
      const loads = this.#fill();
      if (loads.length === 0) break;
      // A heavy page that has arrived makes room for the next one.
      await (this.#speed ? Promise.race(loads) : Promise.all(loads));
    }
    // If the view has moved on, a later call loads the next page.
    if (this.#views !== view || this.#options.isAhead === false) return;
    const ahead = this.#isDown ? last + 1 : first - 1;
    if (ahead === this.#ahead) return;
    this.#ahead = ahead;
    await this.#want(ahead);
  }

  /** No rows are visible any longer: cancels all loads. The loaded pages may be dropped from now on. */
  hide(): void {
    this.#views++;
    [this.#first, this.#last] = [0, -1];
    this.#ahead = undefined;
    this.#options.budget.trim();
    for (const [number, page] of this.#pages) {
      if (page.state === 'loading') page.abort();
      if (page.state === 'failed') this.#pages.delete(number);
    }
  }

  /** Loads failed visible pages again. */
  async retry(): Promise<void> {
    for (const page of this.failures) this.#pages.delete(page.start / this.#options.pageRows);
    const { pageRows } = this.#options;
    const numRows = this.#numRows;
    await this.show(this.#first * pageRows, Math.min(numRows, (this.#last + 1) * pageRows));
  }

  /** Forgets all pages, and loads the visible ones again. */
  async reload(): Promise<void> {
    this.#clear();
    const { pageRows } = this.#options;
    await this.show(this.#first * pageRows, Math.min(this.#numRows, (this.#last + 1) * pageRows));
  }

  close(): void {
    this.#closed = true;
    this.#clear();
  }

  #now(): number {
    return this.#options.now?.() ?? performance.now();
  }

  #clear(): void {
    for (const page of this.#pages.values()) {
      if (page.state === 'loading') page.abort();
      if (page.state === 'loaded') this.#options.budget.remove(page.counted);
    }
    this.#pages.clear();
  }

  /**
   * Cancels loads far from the view and drops invisible failed pages, so that they load again when the user scrolls
   * back.
   */
  #leave(): void {
    // A large page that the view has passed is not needed. One before it is, also if the view becomes slower.
    const lead = this.#speed ? this.#speed.lead || (this.#isDown ? nearPages : -nearPages) : 0;
    for (const [number, page] of this.#pages) {
      const distance = this.#distance(number);
      const isNear = this.#distance(number, lead) <= (this.#speed ? 0 : nearPages);
      if (page.state === 'loading' && !isNear) page.abort();
      if (page.state === 'failed' && distance > 0) this.#pages.delete(number);
    }
  }

  /** Returns the distance of a page from the view and the pages that it moves over next; 0 for a visible page. */
  #distance(number: number, lead = 0): number {
    return Math.max(this.#first + Math.min(0, lead) - number, number - this.#last - Math.max(0, lead), 0);
  }

  /** Starts loading pages of the view, as many as may be loaded at once. Returns the running loads of these pages. */
  #fill(): Promise<void>[] {
    const most = this.#speed ? maxHeavyLoads : Infinity;
    const numbers = this.#wanted();
    const loads: Promise<void>[] = [];
    for (const number of numbers) {
      const page = this.#pages.get(number);
      if (page?.state === 'loading') loads.push(page.done);
    }
    for (const number of numbers) {
      if (loads.length >= most) break;
      if (this.#pages.has(number) || this.#tried.has(number) || this.#closed) continue;
      if (this.#distance(number) > 0) this.#tried.add(number);
      loads.push(this.#want(number));
    }
    return loads;
  }

  /**
   * Returns the pages of the view, the first one first. If the view moves fast, begins with the page that it reaches
   * last by the time that a page arrives, because that one will be visible for the longest time.
   */
  #wanted(): number[] {
    const lead = this.#speed?.lead ?? 0;
    const start = Math.max(0, this.#first + Math.min(0, lead));
    const end = Math.min(Math.ceil(this.#numRows / this.#options.pageRows), this.#last + Math.max(0, lead) + 1);
    const numbers = Array.from({ length: Math.max(0, end - start) }, (_, index) => start + index);
    return lead > 0 ? numbers.toReversed() : numbers;
  }

  #use(number: number): void {
    const known = this.#pages.get(number);
    if (known?.state === 'loaded') this.#options.budget.use(known.counted);
  }

  #want(number: number): Promise<void> {
    const { pageRows } = this.#options;
    const numRows = this.#numRows;
    const known = this.#pages.get(number);
    if (known) {
      if (known.state === 'loaded') this.#options.budget.use(known.counted);
      return known.state === 'loading' ? known.done : Promise.resolve();
    }
    if (this.#closed || number < 0 || number * pageRows >= numRows) return Promise.resolve();
    const start = number * pageRows;
    const end = Math.min(numRows, start + pageRows);
    const controller = new AbortController();
    const started = this.#now();
    const done = this.#load(number, start, end, controller.signal);
    const abort = () => {
      this.#pages.delete(number);
      controller.abort();
      this.#speed?.measure(this.#now() - started, false);
    };
    this.#pages.set(number, { state: 'loading', start, end, done, abort });
    return done;
  }

  async #load(number: number, start: number, end: number, signal: AbortSignal): Promise<void> {
    let page: Page<T>;
    try {
      const started = this.#now();
      const { value, bytes } = await this.#options.load(start, end, signal);
      this.#speed?.measure(this.#now() - started, true);
      const counted = { bytes, drop: () => this.#drop(number) };
      page = { state: 'loaded', start, end, value, counted };
    } catch (error) {
      if (!signal.aborted && isAbort(error)) this.#pages.delete(number);
      if (isAbort(error)) return;
      page = { state: 'failed', start, end, error: error instanceof Error ? error : new Error(String(error)) };
    }
    // Ignore a canceled load, which may still finish after another load has replaced it.
    if (signal.aborted || this.#closed) return;
    // Drop an invisible page that failed, because its failure is not reported.
    if (page.state === 'failed' && this.#distance(number) > 0) return void this.#pages.delete(number);
    this.#pages.set(number, page);
    if (page.state === 'loaded') {
      const { counted, value } = page;
      this.#options.budget.add(counted);
      this.#options.onLoaded?.(value, (bytes) => this.#options.budget.grow(counted, bytes));
    }
    this.#options.onChange();
  }

  /** Forgets a page for the budget, unless it is in the view. */
  #drop(number: number): boolean {
    if (number >= this.#first && number <= this.#last) return false;
    this.#pages.delete(number);
    return true;
  }
}
