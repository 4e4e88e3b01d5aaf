import assert from 'node:assert/strict';
import { setImmediate as turn } from 'node:timers/promises';
import { PageBudget } from '../../../../webviews/grid/pageBudget.ts';
import { Pages } from '../../../../webviews/grid/pages.ts';

type Asked = {
  start: number;
  end: number;
  signal: AbortSignal;
  answer(bytes?: number): void;
  fail(message: string): void;
};

/** Returns pages of a table with 10 rows per page. The test itself responds to its loads. */
function pagesOf(numRows: number, maxBytes = Infinity) {
  const budget = new PageBudget(maxBytes);
  const asked: Asked[] = [];
  let changes = 0;
  const pages = new Pages<string>({
    numRows,
    pageRows: 10,
    budget,
    onChange: () => changes++,
    load: (start, end, signal) =>
      new Promise((resolve, reject) => {
        signal.addEventListener('abort', () => reject(new DOMException('Cancelled.', 'AbortError')));
        asked.push({
          start,
          end,
          signal,
          answer: (bytes = 100) => resolve({ value: `${start}`, bytes }),
          fail: (message) => reject(new Error(message)),
        });
      }),
  });
  return { pages, budget, asked, starts: () => asked.map(({ start }) => start), changes: () => changes };
}

suite('Pages of a large table', () => {
  test('the rows on the screen are asked for by whole pages, the last one shorter', () => {
    const { pages, asked } = pagesOf(95);
    void pages.show(88, 95);
    assert.deepEqual(
      asked.map(({ start, end }) => [start, end]),
      [
        [80, 90],
        [90, 95],
      ],
    );
  });

  test('a last page that was not full is loaded again when rows were added, if it is visible', async () => {
    const { pages, budget, asked } = pagesOf(25);
    void pages.show(0, 25);
    for (const one of asked) one.answer();
    await turn();
    void pages.grow(38);
    assert.equal(pages.numRows, 38);
    assert.deepEqual(
      asked.slice(3).map(({ start, end }) => [start, end]),
      [[20, 30]],
    );
    assert.equal(pages.at(0)?.state, 'loaded');
    assert.equal(budget.bytes, 200);
    asked[3]!.answer();
    await turn();
    assert.equal(pages.at(29)?.state, 'loaded');
    void pages.show(30, 38);
    assert.deepEqual(asked.at(-1)?.end, 38);
  });

  test('an invisible page that was not full is forgotten when rows were added', async () => {
    const { pages, asked } = pagesOf(25);
    void pages.show(20, 25);
    asked[0]!.answer();
    await turn();
    void pages.show(0, 10);
    const before = asked.length;
    void pages.grow(100);
    assert.equal(pages.at(20), undefined);
    assert.equal(asked.length, before);
  });

  test('a page is requested once while it loads and after it has loaded', async () => {
    const { pages, asked, starts } = pagesOf(10);
    void pages.show(0, 5);
    void pages.show(1, 6);
    asked[0]!.answer();
    await turn();
    await pages.show(2, 7);
    assert.deepEqual(starts(), [0]);
    assert.equal(pages.at(9)?.state, 'loaded');
  });

  test('the next page follows in the direction of scrolling, once the visible one is there', async () => {
    const { pages, asked, starts } = pagesOf(1000);
    void pages.show(500, 510);
    assert.deepEqual(starts(), [500]);
    asked[0]!.answer();
    await turn();
    assert.deepEqual(starts(), [500, 510]);
    void pages.show(490, 500);
    asked[2]!.answer();
    await turn();
    assert.deepEqual(starts(), [500, 510, 490, 480]);
  });

  test('a load goes on while the view moves near, and is called off when it is far away', () => {
    const { pages, asked } = pagesOf(1000);
    void pages.show(0, 10);
    void pages.show(20, 30);
    assert.equal(asked[0]!.signal.aborted, false);
    void pages.show(500, 510);
    assert.equal(asked[0]!.signal.aborted, true);
    assert.equal(pages.at(0), undefined);
  });

  test('a page that was called off is asked for again when it comes back on the screen', async () => {
    const { pages, asked, starts } = pagesOf(1000);
    void pages.show(0, 10);
    void pages.show(500, 510);
    void pages.show(0, 10);
    await turn();
    assert.deepEqual(starts(), [0, 500, 0]);
    assert.equal(pages.at(0)?.state, 'loading');
    asked[2]!.answer();
    await turn();
    assert.equal(pages.at(0)?.state, 'loaded');
  });

  test('the longest unseen pages are dropped beyond the limit of bytes, never a visible one', async () => {
    const { pages, budget, asked } = pagesOf(100, 250);
    for (const row of [0, 30, 60]) {
      void pages.show(row, row + 10);
      asked.at(-1)!.answer();
      await turn();
    }
    assert.deepEqual(
      [0, 30, 60].map((row) => pages.at(row)?.state),
      [undefined, 'loaded', 'loaded'],
    );
    assert.equal(budget.bytes, 200);
    void pages.show(90, 100);
    asked.at(-1)!.answer(10_000);
    await turn();
    assert.equal(pages.at(95)?.state, 'loaded');
    assert.equal(budget.bytes, 10_000);
  });

  test('a page that was seen again is dropped later than one that was not', async () => {
    const { pages, asked } = pagesOf(100, 250);
    for (const row of [0, 30]) {
      void pages.show(row, row + 10);
      asked.at(-1)!.answer();
      await turn();
    }
    await Promise.race([pages.show(0, 10), turn()]);
    void pages.show(60, 70);
    asked.at(-1)!.answer();
    await turn();
    assert.deepEqual(
      [0, 30, 60].map((row) => pages.at(row)?.state),
      ['loaded', undefined, 'loaded'],
    );
  });

  test('a failed page says why, is not asked again while on the screen, and is when scrolled back to', async () => {
    const { pages, asked, starts, changes } = pagesOf(1000);
    void pages.show(0, 10);
    asked[0]!.fail('The disk is gone.');
    await turn();
    const page = pages.at(3);
    assert.equal(page?.state === 'failed' && page.error.message, 'The disk is gone.');
    assert.equal(pages.failures.length, 1);
    assert.equal(changes(), 1);
    void pages.show(1, 10);
    assert.equal(starts().filter((start) => start === 0).length, 1);
    void pages.show(500, 510);
    void pages.show(0, 10);
    assert.equal(starts().filter((start) => start === 0).length, 2);
  });

  test('a failed page outside of the screen is not shown as a failure, and is requested when it becomes visible', async () => {
    const { pages, asked, starts, changes } = pagesOf(1000);
    void pages.show(0, 10);
    asked[0]!.answer();
    await turn();
    assert.deepEqual(starts(), [0, 10]);
    asked[1]!.fail('The disk is gone.');
    await turn();
    assert.deepEqual(pages.failures, []);
    assert.equal(changes(), 1);
    void pages.show(10, 20);
    assert.deepEqual(starts(), [0, 10, 10]);
    assert.equal(pages.at(10)?.state, 'loading');
  });

  test('trying again asks for what is on the screen and failed', async () => {
    const { pages, asked } = pagesOf(10);
    void pages.show(0, 10);
    asked[0]!.fail('no');
    await turn();
    void pages.retry();
    asked[1]!.answer();
    await turn();
    assert.equal(pages.at(0)?.state, 'loaded');
    assert.deepEqual(pages.failures, []);
  });

  test('closing cancels running loads and ignores later results', async () => {
    const { pages, budget, asked, changes } = pagesOf(10);
    const shown = pages.show(0, 10);
    pages.close();
    assert.equal(asked[0]!.signal.aborted, true);
    await shown;
    await pages.show(0, 10);
    assert.equal(asked.length, 1);
    assert.equal(changes(), 0);
    assert.equal(budget.bytes, 0);
  });
});
