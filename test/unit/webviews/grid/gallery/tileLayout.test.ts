import assert from 'node:assert/strict';
import { nextTile, tileLayout } from '../../../../../webviews/grid/gallery/tileLayout.ts';

suite('The places of tiles', () => {
  test('a line has as many tiles as fit, and at least one', () => {
    for (const width of [0, 50, 300, 700, 1200, 4000])
      for (const size of ['small', 'medium', 'large'] as const) {
        const { perLine, tileWidth } = tileLayout(size, width);
        assert.ok(perLine >= 1);
        assert.ok(perLine * tileWidth <= Math.max(width, 1), `${width} ${size}`);
      }
    assert.ok(tileLayout('small', 1200).perLine > tileLayout('large', 1200).perLine);
  });

  test('keys lead to the tiles where they point', () => {
    const place = { perLine: 5, numRows: 23, pageLines: 3 };
    const to = (row: number, key: string, toEdge = false) => nextTile(row, { key, toEdge }, place);
    assert.equal(to(7, 'ArrowLeft'), 6);
    assert.equal(to(9, 'ArrowRight'), 10);
    assert.equal(to(7, 'ArrowUp'), 2);
    assert.equal(to(2, 'ArrowUp'), 2);
    assert.equal(to(12, 'ArrowDown'), 17);
    // The last line has tiles 20 to 22.
    assert.equal(to(19, 'ArrowDown'), 22);
    assert.equal(to(21, 'ArrowDown'), 21);
    assert.equal(to(7, 'Home'), 5);
    assert.equal(to(7, 'End'), 9);
    assert.equal(to(21, 'End'), 22);
    assert.equal(to(7, 'End', true), 22);
    assert.equal(to(7, 'Home', true), 0);
    assert.equal(to(1, 'PageDown'), 16);
    assert.equal(to(16, 'PageDown'), 21);
    assert.equal(to(21, 'PageUp'), 6);
    assert.equal(to(22, 'ArrowUp', true), 2);
    assert.equal(to(2, 'ArrowDown', true), 22);
    assert.equal(to(2, 'x'), undefined);
  });
});
