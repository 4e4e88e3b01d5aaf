import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as vscode from 'vscode';
import { eventually } from '../support.ts';
import { ended, execute, isSaved, item, notebooksOfSuite, printed, start } from './notebookCells.ts';

type Saved = { cells: { outputs: { output_type: string; text?: string[] }[] }[] };

/** Returns the printed text of a cell in the saved notebook. */
function saved(notebook: vscode.NotebookDocument, index: number): string {
  const file = JSON.parse(readFileSync(notebook.uri.fsPath, 'utf8')) as Saved;
  const streams = file.cells[index]?.outputs.filter(({ output_type }) => output_type === 'stream') ?? [];
  return streams.flatMap(({ text }) => text ?? []).join('');
}

function errorOf(notebook: vscode.NotebookDocument, index: number): { message: string; stack: string } {
  const text = item(notebook, index, 'application/vnd.code.notebook.error') ?? '{}';
  return JSON.parse(text) as { message: string; stack: string };
}

suite('outputs of cells', () => {
  const notebooks = notebooksOfSuite();
  const { open } = notebooks;

  // A change of a value first sends the text that was printed before it, so VS Code gets the first lines and further
  // lines in one batch. In such a batch the copy of the outputs for extensions once contained lines twice, while VS
  // Code's own copy was correct.
  test('hold what was printed between changes of a value once, for extensions and in the file', async () => {
    const notebook = await open(
      `await display(0, { id: 'n' });
       console.log('one'); display(1, { id: 'n' });
       console.log('two'); display(2, { id: 'n' });
       console.log('three'); display(3, { id: 'n' }); undefined`,
    );
    assert.ok(await execute(notebook, 0));
    assert.equal(printed(notebook, 0), 'one\ntwo\nthree\n');
    assert.ok(await isSaved(notebook));
    assert.equal(saved(notebook, 0), 'one\ntwo\nthree\n');
  });

  test('hold five thousand lines in their order, for extensions and in the file', async () => {
    const notebook = await open(
      `await display(0, { id: 'n' });
       for (let i = 0; i < 5000; i++) {
         console.log('line ' + i);
         if (i % 50 === 0) display(i, { id: 'n' });
         if (i % 500 === 0) await new Promise((done) => setTimeout(done, 10));
       }`,
    );
    assert.ok(await execute(notebook, 0));
    const lines = Array.from({ length: 5000 }, (_, i) => `line ${i}\n`).join('');
    assert.equal(printed(notebook, 0), lines);
    assert.ok(await isSaved(notebook));
    assert.equal(saved(notebook, 0), lines);
  });

  test('are in the file that is saved as soon as a cell has ended', async () => {
    const notebook = await open(...Array.from({ length: 5 }, (_, i) => `console.log('printed ${i}')`));
    for (const cell of notebook.getCells()) {
      start(notebook, cell.index);
      await eventually('its end', () => cell.executionSummary?.success);
      assert.ok(await isSaved(notebook));
      assert.equal(saved(notebook, cell.index), `printed ${cell.index}\n`);
    }
  });

  test('go on in a new output when the person has cleared them', async () => {
    const gate = join(notebooks.folder, 'cleared');
    const waits = `while (!existsSync(${JSON.stringify(gate)})) await new Promise((done) => setTimeout(done, 20));`;
    const notebook = await open(
      `const { existsSync } = require('node:fs') as typeof import('node:fs');
       console.log('before'); ${waits} console.log('after');`,
    );
    start(notebook, 0);
    await eventually('the first line', () => printed(notebook, 0).includes('before'));
    await vscode.commands.executeCommand('notebook.clearAllCellsOutputs');
    await eventually('no output', () => notebook.cellAt(0).outputs.length === 0);
    writeFileSync(gate, '');
    await eventually('the last line', () => printed(notebook, 0) === 'after\n', 20_000);
    assert.ok(await ended(notebook, 0));
    assert.ok(await isSaved(notebook));
    assert.equal(saved(notebook, 0), 'after\n');
  });

  test('break the prose of an error at blanks, and neither its frames nor the line of code that it shows', async () => {
    const words = Array.from({ length: 40 }, (_, i) => `word${i}`).join(' ');
    const code = `const wrong: number = '${words}';`;
    const notebook = await open(`throw new Error('${words}\\n  ${words}')`, code);
    for (const index of [0, 1]) assert.equal(await execute(notebook, index), false);
    const [thrown, refused] = [errorOf(notebook, 0), errorOf(notebook, 1)];
    assert.equal(thrown.message, `${words}\n  ${words}`);
    const prose = thrown.stack.split('\n').filter((line) => !/^\s+at /.test(line));
    assert.ok(
      prose.every((line) => line.length <= 100),
      prose.join('\n'),
    );
    assert.equal(prose.join(' ').replaceAll(/ +/g, ' '), `Error: ${words} ${words}`);
    assert.ok(prose.at(-1)?.startsWith('  word'), 'a part is indented as its line was');
    assert.match(refused.stack, /^\d+ \| const wrong: number = 'word0 .* word12/m);
  });
});
