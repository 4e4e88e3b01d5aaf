import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { openWindow, shoot, type Window } from '../harness/window.ts';
import { reloadWindow } from '../harness/workbench.ts';
import { cellAt, counts, notebookOf, openNotebook, patience, runCell, shows } from './parts/notebookWindow.ts';

/**
 * How long a kernel waits for a reloading window, in seconds. A window reloads in less time, even on a busy machine.
 */
const keepSeconds = 40;

suite('A notebook whose tab is behind another', function () {
  this.timeout(6 * patience);
  let window: Window;

  suiteSetup(async () => {
    window = await openWindow({ 'lanceCatalog.notebook.keepKernelSeconds': keepSeconds });
  });

  suiteTeardown(() => window?.close());

  teardown(async function () {
    if (this.currentTest?.state === 'failed')
      await shoot(window, `failed-${this.currentTest.title.replaceAll(/\W+/g, '-')}`);
  });

  test('has its kernel and its variables long after the window was reloaded', async () => {
    const { page, folder } = window;
    writeFileSync(join(folder, 'behind.ipynb'), notebookOf(['let kept = 41;', `'it is ' + (kept + 1)`]));
    writeFileSync(join(folder, 'front.ipynb'), notebookOf([`'in front'`]));
    await openNotebook(page, 'behind.ipynb');
    await runCell(page, 0);
    await counts(page, 0, 1);
    // A double click keeps the tab open; a single click would open a preview.
    await page.getByRole('tab', { name: 'behind.ipynb' }).dblclick();
    await openNotebook(page, 'front.ipynb');
    await reloadWindow(page);
    await runCell(page, 0);
    await shows(page, 'in front');
    await sleep((keepSeconds + 10) * 1000);
    await page.getByRole('tab', { name: 'behind.ipynb' }).click();
    await cellAt(page, 1).waitFor({ timeout: patience });
    await runCell(page, 1);
    await shows(page, 'it is 42');
  });
});
