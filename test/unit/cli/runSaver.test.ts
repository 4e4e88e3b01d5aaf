import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { notebookText, parseNotebook } from '#session/headless/notebookFile.ts';
import { createNotebookSaver } from '../../../kernel/cli/run.ts';
import { tempFolder } from '../../harness/temp.ts';

const notebook = parseNotebook('{"cells":[],"nbformat":4,"made":"by hours of work"}', 'it');

/** Returns what is written to stderr during an action. */
async function told(work: () => Promise<void>): Promise<string[]> {
  const lines: string[] = [];
  const { error } = console;
  console.error = (line: unknown) => void lines.push(String(line));
  try {
    await work();
  } finally {
    console.error = error;
  }
  return lines;
}

suite('The notebook of a run', () => {
  test('that can not be saved where it should be is kept elsewhere, and the error says where', async () => {
    const target = join(tempFolder(), 'gone', 'night.ipynb');
    const error = await createNotebookSaver(target, notebook, { isFile: true })
      .now()
      .then(
        () => assert.fail('It was saved.'),
        (reason: unknown) => reason,
      );
    assert.ok(error instanceof Error);
    const [, refuge = ''] =
      /Can't write "[^"]*night\.ipynb": .* The notebook with its outputs is in "(.+)"\.$/.exec(error.message) ?? [];
    assert.match(refuge, /\/lance-run-\w{6}\/night\.ipynb$/);
    // Outputs may be confidential, and other users can read the temporary folder.
    assert.deepEqual([statSync(dirname(refuge)).mode & 0o777, statSync(refuge).mode & 0o777], [0o700, 0o600]);
    assert.equal(readFileSync(refuge, 'utf8'), notebookText(notebook));
    rmSync(dirname(refuge), { recursive: true });
  });

  test('that can not be saved during the run is reported once, and saved when possible', async () => {
    const folder = join(tempFolder(), 'later');
    const saver = createNotebookSaver(join(folder, 'night.ipynb'), notebook, { isFile: true, everyMs: 0 });
    const lines = await told(async () => {
      await saver.soon();
      await saver.soon();
    });
    assert.equal(lines.length, 1);
    assert.match(
      lines[0] ?? '',
      /^Can't write ".*night\.ipynb": .* The run continues and saves the notebook when it ends\.$/,
    );
    mkdirSync(folder);
    await saver.soon();
    assert.ok(existsSync(join(folder, 'night.ipynb')));
  });

  test('that goes to a pipe is not written before its end', async () => {
    const target = join(tempFolder(), 'pipe');
    await createNotebookSaver(target, notebook, { isFile: false, everyMs: 0 }).soon();
    assert.equal(existsSync(target), false);
  });
});
