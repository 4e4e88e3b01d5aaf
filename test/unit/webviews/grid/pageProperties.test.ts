import assert from 'node:assert/strict';
import { setImmediate as turn } from 'node:timers/promises';
import { Random } from '../../../contract/model/random.ts';
import type { Block } from '../../../../webviews/grid/block.ts';
import { GroupPages } from '../../../../webviews/grid/groupPages.ts';
import { PageBudget } from '../../../../webviews/grid/pageBudget.ts';

// Random scrolls, widths, failures and cancellations of groups of columns that share a budget. A failure prints its
// seed: PAGES_SEED=8 runs it again.

const seeds =
  process.env['PAGES_SEED'] === undefined
    ? Array.from({ length: 60 }, (_, i) => i)
    : [Number(process.env['PAGES_SEED'])];
const steps = 120;
/** A load continues while its rows are at most this far from the view: 3 pages, or 24 large ones of a fast scroll. */
const nearRows = 25 * 500;

type Load = {
  readonly group: number;
  readonly start: number;
  readonly end: number;
  readonly signal: AbortSignal;
  finish(): void;
  fail(): void;
};

const textOf = (row: number, column: number): string => `${row}/${column}`;

/** A table with several groups of columns, whose loads end when the test says so. */
class RandomTable {
  readonly random: Random;
  readonly budget: PageBudget;
  readonly maxBytes: number;
  readonly groups: readonly { columns: readonly number[]; rowBytes: number; pages: GroupPages }[];
  readonly pending = new Set<Load>();
  numRows: number;
  /** Milliseconds since the start. */
  now = 0;
  view = { start: 0, end: 0, shown: new Set<number>() };

  constructor(seed: number) {
    const random = new Random(seed);
    this.random = random;
    this.numRows = 1 + random.below(random.pick([9, 700, 40_000, 100_000_000]));
    this.maxBytes = random.pick([0, 100_000, 3_000_000, 30_000_000]);
    this.budget = new PageBudget(this.maxBytes);
    let column = 0;
    this.groups = Array.from({ length: 1 + random.below(4) }, (_, group) => {
      const columns = Array.from({ length: 1 + random.below(3) }, () => column++);
      const rowBytes = random.pick([1, 40, 4_000, 120_000, 3_000_000]);
      const isKnown = random.chance(0.5);
      const pages = new GroupPages({
        group: {
          columns,
          isHeavy: rowBytes > 1_024,
          rowBytes: isKnown ? rowBytes : undefined,
          maxRows: random.pick([500, 32]),
        },
        numRows: this.numRows,
        budget: this.budget,
        now: () => this.now,
        // The grid draws, and so asks for the view again.
        onChange: () => this.show(this.view.start, this.view.end, this.view.shown),
        load: (start, end, signal) => this.#load(group, start, end, signal),
      });
      return { columns, rowBytes, pages };
    });
  }

  #load(group: number, start: number, end: number, signal: AbortSignal): Promise<{ value: Block; bytes: number }> {
    const { columns, rowBytes } = this.groups[group]!;
    assert.ok(start >= 0 && start < end && end <= this.numRows, `rows ${start}–${end} of ${this.numRows} exist`);
    return new Promise((resolve, reject) => {
      const load: Load = {
        group,
        start,
        end,
        signal,
        finish: () => resolve({ value: blockOf(start, end, columns), bytes: (end - start) * rowBytes }),
        fail: () => reject(new Error(`Can't read row ${start}.`)),
      };
      this.pending.add(load);
      // Some loads end although they were canceled, as a response that is already under way.
      const isDeaf = this.random.chance(0.2);
      signal.addEventListener('abort', () => {
        if (isDeaf) return;
        this.pending.delete(load);
        reject(new DOMException('Canceled.', 'AbortError'));
      });
    });
  }

  show(start: number, end: number, shown: ReadonlySet<number>): void {
    this.view = { start, end, shown: new Set(shown) };
    for (const [index, { pages }] of this.groups.entries())
      if (shown.has(index)) void pages.show(start, end);
      else pages.hide();
  }

  /** Scrolls by some rows, or jumps, and sometimes to other columns. */
  scroll(): void {
    const { random, numRows, view } = this;
    const height = 1 + random.below(40);
    const start = Math.max(
      0,
      Math.min(numRows - 1, random.chance(0.6) ? view.start + random.below(61) - 30 : random.below(numRows)),
    );
    const shown = random.chance(0.7) && view.shown.size > 0 ? view.shown : this.#someGroups();
    this.show(start, Math.min(numRows, start + height), shown);
  }

  #someGroups(): Set<number> {
    return new Set([...this.groups.keys()].filter(() => this.random.chance(0.6)));
  }

  /** Ends some loads in any order. */
  respond(share: number, failures: number): void {
    for (const load of [...this.pending].toSorted(() => this.random.next() - 0.5)) {
      if (!this.random.chance(share)) continue;
      this.pending.delete(load);
      if (this.random.chance(failures)) load.fail();
      else load.finish();
    }
  }

  async settle(): Promise<void> {
    for (let round = 0; round < 50; round++) {
      await turn();
      if (this.pending.size === 0) return;
      this.respond(1, 0);
    }
    assert.fail('the loads come to an end');
  }

  /** Reads the cells of the view, as drawing does, and checks those that are loaded. */
  checkCells({ areLoaded }: { areLoaded: boolean }): void {
    const { start, end, shown } = this.view;
    for (const group of shown) {
      const { columns, pages } = this.groups[group]!;
      for (let row = start; row < end; row++)
        for (const column of columns) {
          const cell = pages.cell(row, column);
          if (cell === undefined) assert.ok(!areLoaded, `row ${row} of column ${column} is loaded`);
          else if (cell.kind === 'failed') assert.ok(!areLoaded, `row ${row} was read again`);
          else assert.equal(cell.text, textOf(row, column));
        }
    }
  }

  /** The pages in the view stay, whatever their size; all others together are within the limit. */
  checkBudget(): void {
    const { start, end, shown } = this.view;
    let visible = 0;
    for (const group of shown) {
      // A view of 40 rows touches pages of at most 500 rows at both ends, with their formatted cells.
      const { rowBytes, columns } = this.groups[group]!;
      visible += (end - start + 2 * 500) * (rowBytes + columns.length * cellBytes);
    }
    assert.ok(this.budget.bytes <= this.maxBytes + visible, `${this.budget.bytes} bytes are kept`);
    assert.ok(this.budget.bytes >= 0);
  }

  /** Only rows near the view, of columns in the view, are being read. */
  checkLoads(): void {
    const { start, end, shown } = this.view;
    for (const load of this.pending) {
      if (load.signal.aborted) continue;
      assert.ok(shown.has(load.group), `columns out of the view are not read`);
      const size = load.end - load.start;
      // A look at the width of the rows is short, and its rows may have left the view meanwhile.
      if (size <= 8) continue;
      const distance = Math.max(load.start - end, start - load.end, 0);
      assert.ok(distance <= nearRows, `rows ${load.start}–${load.end} are near ${start}–${end}`);
    }
  }

  close(): void {
    for (const { pages } of this.groups) pages.close();
  }
}

/** Memory of a formatted cell in the test. */
const cellBytes = 100;

/** Returns rows whose cells are computed, and which count their formatted cells like real ones. */
function blockOf(first: number, end: number, columns: readonly number[]): Block {
  const known = new Set<string>();
  let grow: ((bytes: number) => void) | undefined;
  return {
    cell: (row, position) => {
      const [at, column] = [first + row, columns[position]!];
      assert.ok(at < end, 'the row is in its page');
      const text = textOf(at, column);
      if (!known.has(text)) grow?.(cellBytes);
      known.add(text);
      return { kind: 'text', text };
    },
    exactText: (row, position) => textOf(first + row, columns[position]!),
    value: () => Promise.reject(new Error('not used')),
    count: (next) => (grow = next),
  };
}

suite('Pages of a table under random scrolls', () => {
  for (const seed of seeds)
    test(`show the right rows, keep within the budget and leave no read behind (seed ${seed})`, async () => {
      const table = new RandomTable(seed);
      const { random } = table;
      for (let step = 0; step < steps; step++) {
        table.now += random.below(60);
        if (random.chance(0.7)) table.scroll();
        if (random.chance(0.6)) table.respond(random.next(), 0.1);
        if (random.chance(0.1)) {
          table.numRows += random.below(600);
          for (const { pages } of table.groups) pages.grow(table.numRows);
        }
        if (random.chance(0.1)) for (const { pages } of table.groups) pages.retry();
        await turn();
        table.checkCells({ areLoaded: false });
        table.checkBudget();
        table.checkLoads();
      }
      await table.settle();
      for (const { pages } of table.groups) pages.retry();
      await table.settle();
      table.checkCells({ areLoaded: true });
      table.checkBudget();
      table.show(0, 0, new Set());
      table.scroll();
      table.close();
      assert.deepEqual(
        [...table.pending].filter(({ signal }) => !signal.aborted),
        [],
      );
      assert.equal(table.budget.bytes, 0);
    });
});
