import assert from 'node:assert/strict';
import type * as vscode from 'vscode';
import { findWaiting, readWaiting, WaitingCells, type WaitingRow } from '../../../../extension/notebook/queuedCells.ts';

/** Returns the used part of a notebook: ids and texts of its cells. */
function notebookOf(...cells: [id: string, code: string][]): vscode.NotebookDocument {
  const made = cells.map(([id, code], index) => ({ index, metadata: { id }, document: { getText: () => code } }));
  return { getCells: () => made } as unknown as vscode.NotebookDocument;
}

const rowOf = (id: string, index: number, code: string): WaitingRow => ({
  hasBegun: false,
  cells: [{ place: { index, id }, code }],
});

const moment = (): Promise<void> => new Promise((resolve) => setImmediate(() => setImmediate(resolve)));

suite('Cells that wait', () => {
  const notebook = notebookOf(['a', '1'], ['b', '2'], ['c', '3'], ['d', '4']);
  const [a, b, c, d] = notebook.getCells() as [
    vscode.NotebookCell,
    vscode.NotebookCell,
    vscode.NotebookCell,
    vscode.NotebookCell,
  ];
  let kept: WaitingRow[] | undefined;
  let waiting: WaitingCells;

  setup(() => {
    kept = undefined;
    waiting = new WaitingCells((rows) => (kept = readWaiting(JSON.parse(JSON.stringify(rows)))));
  });

  const ids = (): string[][] | undefined => kept?.map(({ cells }) => cells.map(({ place }) => place.id ?? ''));

  test('are kept by the clicks that asked for them, and those that began are not', async () => {
    const first = waiting.add([a, b, c]);
    waiting.add([d]);
    waiting.begin(first);
    await moment();
    assert.deepEqual(ids(), [['b', 'c'], ['d']]);
    assert.deepEqual(
      kept?.map(({ hasBegun }) => hasBegun),
      [true, false],
    );
    waiting.end(first);
    await moment();
    assert.deepEqual(ids(), [['d']]);
    waiting.clear();
    await moment();
    assert.deepEqual(ids(), []);
  });

  test('are not written down when they begin at once', async () => {
    const row = waiting.add([a]);
    waiting.begin(row);
    await moment();
    waiting.end(row);
    await moment();
    assert.equal(kept, undefined);
  });

  test('stay as they were when the window closed, whatever ends afterwards', async () => {
    const row = waiting.add([a, b]);
    waiting.begin(row);
    waiting.leave();
    assert.deepEqual(ids(), [['b']]);
    waiting.end(row);
    waiting.clear();
    await moment();
    assert.deepEqual(ids(), [['b']]);
  });

  test('come before those of the window that restores them', async () => {
    waiting.add([d]);
    waiting.restore([{ hasBegun: true, cells: [{ place: { index: 1, id: 'b' }, code: '2' }] }]);
    await moment();
    assert.deepEqual(ids(), [['b'], ['d']]);
  });

  test('are found where they are now, and told apart from what has changed', () => {
    const moved = findWaiting(notebook, [rowOf('c', 0, '3'), rowOf('a', 1, '1')]);
    assert.deepEqual(moved, { cells: [[c], [a]], isWhole: true });
    assert.deepEqual(findWaiting(notebook, [rowOf('c', 2, 'other')]), { cells: [[c]], isWhole: false });
    assert.deepEqual(findWaiting(notebook, [rowOf('gone', 2, 'gone')]), { cells: [[]], isWhole: false });
  });

  test('are none where something else was kept', () => {
    for (const odd of [undefined, 'x', [1], [{ hasBegun: true, cells: [{ place: {}, code: 1 }] }]])
      assert.deepEqual(readWaiting(odd), []);
  });
});
