import assert from 'node:assert/strict';
import { readdirSync, readFileSync, readlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { openWindow, shoot, type Window } from '../harness/window.ts';
import { reloadWindow, runCommand } from '../harness/workbench.ts';
import { cellAt, counts, notebookOf, openNotebook, patience, runCell, shows } from './parts/notebookWindow.ts';

/** How long a kernel waits for its notebook, in seconds. A window reloads in less time, even on a busy machine. */
const keepSeconds = 40;

/** Returns the process ids of the kernels that run in a folder. */
function kernelsIn(folder: string): number[] {
  return readdirSync('/proc').flatMap((name) => {
    try {
      const isKernel = /^\d+$/.test(name) && commandOf(name).includes('--pipe');
      return isKernel && readlinkSync(`/proc/${name}/cwd`) === folder ? [Number(name)] : [];
    } catch {
      return []; // The process has ended.
    }
  });
}

const commandOf = (pid: string): string => readFileSync(`/proc/${pid}/cmdline`, 'utf8');

async function kernelsEnd(folder: string): Promise<void> {
  const end = Date.now() + (keepSeconds + 30) * 1000;
  while (kernelsIn(folder).length > 0) {
    assert.ok(Date.now() < end, `Kernels still run: ${kernelsIn(folder).join(', ')}`);
    await sleep(200);
  }
}

suite('A notebook that was opened from the Explorer and closed', function () {
  this.timeout(6 * patience);
  let window: Window;

  suiteSetup(async () => {
    window = await openWindow({ 'lanceCatalog.notebook.keepKernelSeconds': keepSeconds });
    for (const name of ['first.ipynb', 'second.ipynb'])
      writeFileSync(join(window.folder, name), notebookOf(['let kept = 41;', `'it is ' + (kept + 1)`, 'kept.wrong']));
  });

  suiteTeardown(() => window?.close());

  teardown(async function () {
    if (this.currentTest?.state === 'failed')
      await shoot(window, `failed-${this.currentTest.title.replaceAll(/\W+/g, '-')}`);
  });

  async function closeTab(): Promise<void> {
    // VS Code saves a second after a change. Before that it would ask whether to save.
    await window.page.locator('.tab.dirty').waitFor({ state: 'detached', timeout: patience });
    await runCommand(window.page, 'View: Close Editor');
  }
  /** Waits until the status bar shows this number of errors. */
  const problems = async (count: number): Promise<void> =>
    window.page
      .locator(`.statusbar-item a[aria-label^="${count === 0 ? 'No Problems' : `Errors: ${count}`}"]`)
      .waitFor({
        timeout: patience,
      });

  test('keeps its kernel if it is opened again soon, and its errors are listed only while it is open', async () => {
    const { page, folder } = window;
    await openNotebook(page, 'first.ipynb');
    await runCell(page, 0);
    await counts(page, 0, 1);
    await problems(1);
    const [pid] = kernelsIn(folder);
    assert.ok(pid !== undefined);
    await closeTab();
    await problems(0);
    await openNotebook(page, 'first.ipynb');
    await runCell(page, 1);
    await shows(page, 'it is 42');
    assert.deepEqual(kernelsIn(folder), [pid]);
    await problems(1);
  });

  test('ends its kernel', async () => {
    await closeTab();
    await kernelsEnd(window.folder);
  });

  test('keeps its kernel while the window is reloaded, and ends it after that', async () => {
    const { page, folder } = window;
    await openNotebook(page, 'second.ipynb');
    await runCell(page, 0);
    await counts(page, 0, 1);
    const before = kernelsIn(folder);
    assert.equal(before.length, 1);
    await reloadWindow(page);
    await cellAt(page, 1).waitFor({ timeout: patience });
    await runCell(page, 1);
    await shows(page, 'it is 42');
    assert.deepEqual(kernelsIn(folder), before);
    await closeTab();
    await kernelsEnd(folder);
    await problems(0);
  });
});
