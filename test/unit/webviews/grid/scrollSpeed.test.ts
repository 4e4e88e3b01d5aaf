import assert from 'node:assert/strict';
import { setImmediate as turn } from 'node:timers/promises';
import { PageBudget } from '../../../../webviews/grid/pageBudget.ts';
import { Pages } from '../../../../webviews/grid/pages.ts';
import { ScrollSpeed } from '../../../../webviews/grid/scrollSpeed.ts';

const frameMs = 16;

type Scroll = { readonly pagesPerFrame: number; readonly loadMs: number; readonly everyFrames?: number };

/** Scrolls large pages for 600 frames, some of which move the view. Each page takes the same time to load. */
async function scrollPages({ pagesPerFrame, loadMs, everyFrames = 1 }: Scroll) {
  const frames = 600;
  let now = 0;
  const pending = new Set<{ readonly due: number; readonly finish: () => void }>();
  const pages = new Pages<number>({
    numRows: 100_000,
    pageRows: 8,
    budget: new PageBudget(64 * 2 ** 20),
    isHeavy: true,
    isAhead: false,
    now: () => now,
    onChange: () => {},
    load: (start, _end, signal) =>
      new Promise((resolve, reject) => {
        const load = { due: now + loadMs, finish: () => resolve({ value: start, bytes: 2 ** 20 }) };
        pending.add(load);
        signal.addEventListener('abort', () => {
          pending.delete(load);
          reject(new DOMException('Canceled.', 'AbortError'));
        });
      }),
  });
  const rows = 32;
  let [top, emptyMs, longestMs] = [40_000, 0, 0];
  for (let frame = 0; frame < frames + 100; frame++) {
    if (frame < frames && frame % everyFrames === 0) top += pagesPerFrame * everyFrames * 8;
    void pages.show(Math.floor(top), Math.floor(top) + rows);
    now += frameMs;
    for (const load of pending)
      if (load.due <= now) {
        pending.delete(load);
        load.finish();
      }
    await turn();
    const isEmpty = !Array.from({ length: rows }, (_, row) => pages.at(Math.floor(top) + row)).some(
      (page) => page?.state === 'loaded',
    );
    emptyMs = isEmpty ? emptyMs + frameMs : 0;
    longestMs = Math.max(longestMs, emptyMs);
  }
  const last = Array.from({ length: rows }, (_, row) => pages.at(Math.floor(top) + row)?.state);
  pages.close();
  return { longestMs, last };
}

suite('Speed of a scrolled view', () => {
  for (const [pagesPerFrame, loadMs] of [
    [0.02, 150],
    [0.05, 300],
    [0.4, 150],
    [0.4, 300],
    [-0.4, 150],
    [1, 300],
  ] as const)
    test(`images appear while ${pagesPerFrame} pages a frame pass and a page takes ${loadMs} ms`, async () => {
      const { longestMs, last } = await scrollPages({ pagesPerFrame, loadMs });
      assert.ok(longestMs <= 1_000, `nothing was shown for ${longestMs} ms`);
      assert.deepEqual(new Set(last), new Set(['loaded']));
    });

  for (const loadMs of [150, 500])
    test(`images appear while a notch of the wheel comes each 100 ms and a page takes ${loadMs} ms`, async () => {
      const { longestMs, last } = await scrollPages({ pagesPerFrame: 0.05, loadMs, everyFrames: 6 });
      assert.ok(longestMs <= 1_000, `nothing was shown for ${longestMs} ms`);
      assert.deepEqual(new Set(last), new Set(['loaded']));
    });

  test('a view that does not move, a slow one and one that has jumped are loaded where they are', () => {
    let now = 0;
    const speed = new ScrollSpeed(() => now);
    speed.move(0, 3);
    assert.equal(speed.lead, 0);
    for (let step = 1; step <= 10; step++) {
      now += 16;
      speed.move(step / 2, step / 2 + 3);
    }
    assert.equal(speed.lead, 5);
    now += 151;
    assert.equal(speed.lead, 0);
    now += 16;
    speed.move(500, 503);
    assert.equal(speed.lead, 0);
    for (let step = 1; step <= 10; step++) {
      now += 1_000;
      speed.move(500 + step, 503 + step);
    }
    assert.equal(speed.lead, 0);
  });
});
