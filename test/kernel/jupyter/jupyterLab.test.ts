import assert from 'node:assert/strict';
import { copyFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { inRoot } from '../../../scripts/paths.ts';
import { type Browser, openBrowser } from '../../harness/browser.ts';
import { contrast } from '../../ui/parts/contrast.ts';
import { installedKernel } from './jupyterHome.ts';
import { type JupyterLab, startJupyterLab } from './jupyterLab.ts';
import {
  cellAt,
  chooseMenu,
  closeConsole,
  coloursOf,
  earlierLine,
  enterCell,
  frameWith,
  kernelIs,
  openNotebook,
  outputs,
  patience,
  pressButton,
  runCell,
  runInConsole,
  setBreakpoint,
  shoot,
  startCell,
} from './labPage.ts';

const cells = {
  loop: `let kept = 41;\nconsole.log('in the loop');\nwhile (true) {}`,
  afterLoop: 'kept + 1',
  ask: `const name = await input('Your name?');\nconst key = await input('Your key?', { password: true });\nname + ' has ' + key.length`,
  members: 'db.',
  documented: 'db.openTable',
  throws: `import { check } from './own';\ncheck(-1);`,
  wrongType: `type Price = number;\nconst price: Price = 'free';`,
  progress: `for (const x of progress([1, 2, 3], { label: 'rows' })) await new Promise((done) => setTimeout(done, 50));`,
  late: `setTimeout(() => console.log('late'), 1500);`,
  afterLate: `'the next cell'`,
  waits: `let release = () => {};\nawait new Promise<string>((go) => (release = () => go('released')))`,
  stops: `function half(price: number) {\n  return price / 2;\n}\nhalf(42)`,
};
type Name = keyof typeof cells;
const names = Object.keys(cells) as Name[];

const ownFile = `export function check(price: number): void {
  if (price < 0) throw new RangeError('no price is below 0');
}
`;

const notebook = {
  cells: Object.entries(cells).map(([id, source]) => ({
    cell_type: 'code',
    id,
    metadata: {},
    execution_count: null,
    outputs: [],
    source,
  })),
  metadata: {
    kernelspec: { name: 'lance-typescript', display_name: 'TypeScript (Lance Catalog)', language: 'typescript' },
  },
  nbformat: 4,
  nbformat_minor: 5,
};

suite('The kernel in JupyterLab', function () {
  this.timeout(180_000);
  // State that one cell leaves, such as an open prompt, would affect the following cells.
  this.bail(true);
  let lab: JupyterLab;
  let browser: Browser;
  let page: Page;

  const cell = (name: Name) => cellAt(page, names.indexOf(name));
  const shown = (name: Name) => outputs(cell(name));

  suiteSetup(async () => {
    const jupyter = await installedKernel();
    lab = await startJupyterLab(jupyter);
    copyFileSync(inRoot('scripts/sample/tour.ipynb'), join(lab.folder, 'tour.ipynb'));
    writeFileSync(join(lab.folder, 'own.ts'), ownFile);
    writeFileSync(join(lab.folder, 'screen.ipynb'), JSON.stringify(notebook));
    browser = await openBrowser(jupyter.home, { width: 1400, height: 1400 });
    ({ page } = browser);
    page.setDefaultTimeout(patience);
  });

  suiteTeardown(async () => {
    await browser?.close();
    await lab?.stop();
  });

  teardown(async function () {
    if (this.currentTest?.state === 'failed')
      await shoot(page, `failed-${this.currentTest.title.replaceAll(/\W+/g, '-')}`);
  });

  test('runs the tour, whose tables can be read in the light and in the dark', async () => {
    await openNotebook(page, lab.address('tour.ipynb'));
    await chooseMenu(page, 'Run', 'Run All Cells');
    const tables = page.locator('.jp-RenderedHTML table');
    await page.getByText('orders, ').last().waitFor();
    await kernelIs(page, 'Idle');
    // JupyterLab draws outputs after the kernel has reported that it is idle.
    await tables.nth(5).waitFor({ state: 'attached' });
    assert.equal(await page.locator('[data-mime-type="application/vnd.jupyter.error"]').count(), 0);
    const picture = page.locator('.jp-RenderedHTML td img').first();
    assert.ok((await picture.evaluate((each: HTMLImageElement) => each.naturalWidth)) > 0, 'its pictures are drawn');
    await page.locator('.jp-RenderedHTML td svg path').first().waitFor();
    for (const theme of ['JupyterLab Dark', 'JupyterLab Light']) {
      await chooseMenu(page, 'Settings', 'Theme', theme);
      await page.locator(`body[data-jp-theme-name="${theme}"]`).waitFor({ state: 'attached' });
      for (const part of ['th', 'td', 'p']) {
        const [text, ground] = await page.locator(`.jp-RenderedHTML ${part}`).first().evaluate(coloursOf);
        assert.ok(contrast(text, ground) >= 4.5, `${theme}, ${part}: ${text} on ${ground}`);
      }
      await shoot(page, `tour-${theme}`);
    }
    assert.deepEqual([...browser.blocked], [], 'nothing asks the network');
  });

  test('opens a notebook whose cells are coloured as TypeScript', async () => {
    await openNotebook(page, lab.address('screen.ipynb'));
    // `type` is a keyword in TypeScript but not in JavaScript.
    const [keyword, always] = await Promise.all(
      ['type', 'const'].map((word) =>
        cell('wrongType')
          .locator('.cm-line span', { hasText: new RegExp(`^${word}$`) })
          .evaluate(coloursOf),
      ),
    );
    assert.deepEqual(keyword, always);
  });

  test('interrupts an endless loop by the button, and keeps what was declared', async () => {
    await startCell(cell('loop'));
    await shown('loop').getByText('in the loop').waitFor();
    await kernelIs(page, 'Busy');
    await pressButton(page, 'interrupt');
    await shown('loop').getByText('The cell was interrupted.').waitFor();
    await runCell(cell('afterLoop'));
    assert.equal(await shown('afterLoop').innerText(), '42');
  });

  test('asks on the screen, and shows nothing of a password', async () => {
    await startCell(cell('ask'));
    const line = cell('ask').locator('input.jp-Stdin-input');
    await cell('ask').locator('.jp-Stdin-prompt', { hasText: 'Your name?' }).waitFor();
    await line.fill('Ada');
    await line.press('Enter');
    const secret = cell('ask').locator('input.jp-Stdin-input[type=password]');
    await secret.fill('sesame');
    await secret.press('Enter');
    await shown('ask').getByText(`'Ada has 6'`).waitFor();
    assert.doesNotMatch(await cell('ask').innerText(), /sesame/);
  });

  test('completes members by Tab, with what they are', async () => {
    const item = page.locator('.jp-Completer-item[data-value="openTable"]');
    // Try again if the list closes, which happens if something above the cell moves.
    for (let attempt = 1; ; attempt++) {
      await enterCell(cell('members'));
      await page.keyboard.press('Tab');
      try {
        await item.waitFor({ timeout: 20_000 });
        assert.match(await item.innerText({ timeout: 2_000 }), /^m\s*openTable\s*method$/);
        assert.ok((await page.locator('.jp-Completer-item').count()) > 15);
        await item.click({ timeout: 2_000 });
        break;
      } catch (error) {
        if (attempt === 4) throw error;
        await page.keyboard.press('Escape');
      }
    }
    await cell('members').getByText('db.openTable', { exact: true }).waitFor();
  });

  test('tells of a name by Shift-Tab', async () => {
    await enterCell(cell('documented'));
    await page.keyboard.press('Shift+Tab');
    const tooltip = page.locator('.jp-Tooltip');
    await tooltip.getByText('Promise<Table>').first().waitFor();
    await page.keyboard.press('Escape');
  });

  test('names the places of an error in colours, and leads to those in files', async () => {
    await runCell(cell('throws'));
    const [name, places] = [shown('throws').locator('.ansi-red-fg'), shown('throws').locator('.ansi-green-fg')];
    assert.equal(await name.first().innerText(), 'RangeError');
    // Ignore empty texts: a link inside a colored text splits it into several elements.
    const texts = (await places.allInnerTexts()).filter((text) => text !== '');
    assert.match(texts.join(' '), /^\.\/own\.ts:2:24 \[\d+\]:2:1$/);
    assert.doesNotMatch(await cell('throws').innerText(), /Warning/);
    await shown('throws').locator('a[href$="own.ts#line=1"]').waitFor();
  });

  test('marks what is wrong with a type', async () => {
    await runCell(cell('wrongType'));
    const text = await shown('wrongType').innerText();
    assert.match(text, /error TS2322[^]*2 \| const price: Price = 'free';\n {10}\^{5}$/);
  });

  test('shows progress, and late output where it was begun', async () => {
    await runCell(cell('progress'));
    await shown('progress').getByText('rows: 3 of 3 (100 %)').waitFor();
    await runCell(cell('late'));
    await runCell(cell('afterLate'));
    await shown('late').getByText('late').waitFor();
    assert.equal(await shown('afterLate').innerText(), `'the next cell'`);
  });

  test('stops at a breakpoint, shows what variables are, and goes on', async () => {
    const bug = page.locator('.jp-DebuggerBugButton');
    await bug.first().click();
    await setBreakpoint(cell('stops'), 2);
    await startCell(cell('stops'));
    await page.locator('.jp-DebuggerCallstackFrame', { hasText: 'half' }).waitFor();
    await page.getByRole('treeitem', { name: 'price: 42' }).waitFor();
    assert.equal(await cell('stops').locator('.jp-DebuggerEditor-highlight').innerText(), '  return price / 2;');
    await page.locator('[data-command="debugger:continue"]').first().click();
    await shown('stops').getByText('21').waitFor();
    await bug.first().click();
    await page.locator('.jp-DebuggerBugButton[aria-pressed="true"]').waitFor({ state: 'detached' });
  });

  test('runs a console in a subshell while a cell waits, by the menu of the notebook', async () => {
    await startCell(cell('waits'));
    await kernelIs(page, 'Busy');
    const subshell = frameWith(page, 'create_subshell_reply');
    await cell('waits').click({ button: 'right' });
    await page.locator('.lm-Menu-itemLabel', { hasText: 'New Subshell Console for Notebook' }).click();
    await subshell;
    await runInConsole(page, 'typeof release');
    await page.locator('.jp-CodeConsole').getByText("'function'").waitFor();
    await runInConsole(page, 'release()');
    await shown('waits').getByText("'released'").waitFor();
    await shoot(page, 'subshell');
    await closeConsole(page);
    await kernelIs(page, 'Idle');
  });

  test('restarts by the menu: variables are gone, and what was typed is remembered', async () => {
    await chooseMenu(page, 'Kernel', 'Restart Kernel…');
    await page.locator('.jp-Dialog button.jp-mod-accept').click();
    await kernelIs(page, 'Idle');
    await runCell(cell('afterLoop'));
    await shown('afterLoop').getByText("Cannot find name 'kept'").waitFor();
    await cell('afterLoop').click({ button: 'right' });
    await page.locator('.lm-Menu-itemLabel', { hasText: 'New Console for Notebook' }).click();
    // The history has the cell of this kernel first, and then the last cell of the earlier kernel.
    for (const code of [cells.afterLoop, 'release()']) assert.equal(await earlierLine(page), code);
  });
});
