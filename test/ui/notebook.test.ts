import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { frameWith, reloadWindow } from '../harness/workbench.ts';
import { openWindow, shoot, type Window } from '../harness/window.ts';
import { colours, contrast } from './parts/contrast.ts';
import { openCatalog, switchTheme } from './parts/catalogWindow.ts';
import { colouringCells } from './parts/colouring.ts';
import { typingInCells, typingInUntitled } from './parts/typing.ts';
import {
  cellAt,
  clickToolbar,
  counts,
  endMark,
  enterCell,
  notebookOf,
  openNotebook,
  patience,
  runCell,
  shows,
} from './parts/notebookWindow.ts';

/** Returns code that waits until the test creates a file with this name. */
const gate = (name: string): string =>
  `while (!existsSync('${name}')) await new Promise((done) => setTimeout(done, 50));`;

const lines = 5000;

const sources = {
  streams: `import { existsSync } from 'node:fs';\nconsole.log('first line'); ${gate('go-1')} console.log('last line')`,
  table: `let kept = 41; const orders = await db.openTable('orders', { namespacePath: ['shop', 'eu'] });`,
  long: `console.log('printed before'); ${gate('go-2')} console.log('printed after ' + kept);`,
  follows: `'it waited for ' + kept`,
  chooses: `confirm('Go on?') ? 'it goes on' : 'it stays'`,
  asks: `const name = await input('What is your name? ');\n'Hello ' + name.toUpperCase()`,
  secret: `const key = await input('Your key? ', { password: true });\n'It has ' + key.length + ' characters'`,
  loops: `console.log('it loops'); while (true) {}`,
  after: `'still ' + kept`,
  throws: `function inner() {\n  throw new RangeError('too far');\n}\ninner();`,
  prints: `for (let i = 1; i <= ${lines}; i++) {
  if (i % 250 === 0) display.html('at ' + i, { id: 'mark' });
  process.stdout.write('line ' + i + (i < ${lines} ? '\\n' : ''));
}`,
};

type Name = keyof typeof sources;
const names = Object.keys(sources) as Name[];
const at = (name: Name): number => names.indexOf(name);

// All tests use one window, in order, as a user works in one notebook.
suite('A notebook in a window', function () {
  this.timeout(2 * patience);
  let window: Window;

  suiteSetup(async () => {
    const settings = {
      'notebook.output.scrolling': true,
      // A reload takes long on a busy machine.
      'lanceCatalog.notebook.keepKernelSeconds': 600,
    };
    window = await openWindow(settings, { width: 1400, height: 1900 });
  });

  suiteTeardown(() => window?.close());

  teardown(async function () {
    if (this.currentTest?.state === 'failed')
      await shoot(window, `failed-${this.currentTest.title.replaceAll(/\W+/g, '-')}`);
  });

  suite('in which a user types', () => typingInCells(() => window));

  suite('that is not saved and in which a user types', () => typingInUntitled(() => window));

  suite('in which cells are not TypeScript alone', () => colouringCells(() => window));

  suite('in which cells run', () => runningCells(() => window));
});

function runningCells(open: () => Window): void {
  let window: Window;

  suiteSetup(async () => {
    window = open();
    writeFileSync(join(window.folder, 'kernel.ipynb'), notebookOf(names.map((name) => sources[name])));
    await openNotebook(window.page, 'kernel.ipynb');
  });

  const go = (name: string): void => writeFileSync(join(window.folder, name), '');

  test('shows what a cell prints while it runs, and how its run ended', async () => {
    const { page } = window;
    await runCell(page, at('streams'));
    const output = await shows(page, 'first line');
    assert.equal(await output.locator('text=last line').count(), 0);
    assert.equal(await endMark(page, at('streams'), 'success').count(), 0);
    go('go-1');
    await shows(page, 'last line');
    await endMark(page, at('streams'), 'success').waitFor({ timeout: patience });
    await counts(page, at('streams'), 1);
  });

  test('goes on with a running cell while its window is reloaded, and with one that waits for it', async () => {
    const { page } = window;
    await runCell(page, at('table'));
    await counts(page, at('table'), 2);
    await runCell(page, at('long'));
    await shows(page, 'printed before');
    await runCell(page, at('follows'));
    await reloadWindow(page);
    await cellAt(page, at('long')).waitFor({ timeout: patience });
    const output = await shows(page, 'printed before');
    assert.equal(await output.locator('text=printed after').count(), 0);
    go('go-2');
    await shows(page, 'printed after 41');
    await endMark(page, at('long'), 'success').waitFor({ timeout: patience });
    await shows(page, 'it waited for 41');
  });

  test('has the person choose where the answer is yes or no, and takes Escape for no', async () => {
    const { page } = window;
    for (const answer of ['Yes', undefined]) {
      await runCell(page, at('chooses'));
      const list = page.locator('.quick-input-widget', { hasText: 'kernel.ipynb' });
      await list.locator('input[placeholder="Go on?"]').waitFor({ timeout: patience });
      assert.deepEqual(await list.locator('.monaco-list-row .label-name').allInnerTexts(), ['Yes', 'No']);
      await shoot(window, 'notebook-choice');
      if (answer !== undefined) await list.locator('.monaco-list-row', { hasText: answer }).click();
      else await page.keyboard.press('Escape');
      await shows(page, answer === undefined ? 'it stays' : 'it goes on');
    }
  });

  test('asks the person what a cell wants to know', async () => {
    const { page } = window;
    await runCell(page, at('asks'));
    const box = page.locator('.quick-input-widget', { hasText: 'What is your name?' });
    await box.waitFor({ timeout: patience });
    assert.match(await box.innerText(), /kernel\.ipynb/);
    assert.equal(await box.locator('input.input').getAttribute('type'), 'text');
    await shoot(window, 'notebook-input');
    await box.locator('input.input').fill('Ada');
    await page.keyboard.press('Enter');
    await shows(page, 'Hello ADA');
  });

  test('hides what is typed for a password', async () => {
    const { page } = window;
    await runCell(page, at('secret'));
    const box = page.locator('.quick-input-widget', { hasText: 'Your key?' });
    await box.waitFor({ timeout: patience });
    assert.equal(await box.locator('input.input').getAttribute('type'), 'password');
    await box.locator('input.input').fill('abc-123');
    await page.keyboard.press('Enter');
    await shows(page, 'It has 7 characters');
  });

  test('stops an endless loop by the button for it, and keeps its variables', async () => {
    const { page } = window;
    await runCell(page, at('loops'));
    await shows(page, 'it loops');
    await clickToolbar(page, 'Interrupt');
    await endMark(page, at('loops'), 'error').waitFor({ timeout: patience });
    await runCell(page, at('after'));
    await shows(page, 'still 41');
  });

  test('leads from a stack trace to the line of the cell', async () => {
    const { page } = window;
    await runCell(page, at('throws'));
    await endMark(page, at('throws'), 'error').waitFor({ timeout: patience });
    const place = /^\[\d+\]:2:\d+$/;
    const output = await frameWith(page, 'a:text-matches("^\\\\[\\\\d+\\\\]:2:\\\\d+$")', patience);
    await shoot(window, 'notebook-error');
    await enterCell(page, at('table'));
    await output.locator('a', { hasText: place }).first().click();
    const cell = cellAt(page, at('throws'));
    await cell.locator('.monaco-editor.focused').waitFor();
    // The cursor is in the second line, so this text must appear there.
    await page.keyboard.type('here');
    await cell.locator('.view-line', { hasText: /^here\s+throw/ }).waitFor();
    for (const _ of 'here') await page.keyboard.press('Backspace');
    await cell.locator('.view-line', { hasText: /^\s*throw/ }).waitFor();
  });

  test('shows every line of a long print once and in order, and saves it so', async () => {
    const { page } = window;
    await runCell(page, at('prints'));
    const output = await shows(page, `line ${lines}`);
    await endMark(page, at('prints'), 'success').waitFor({ timeout: patience });
    const printed = await output
      .locator('.output', { hasText: `line ${lines}` })
      .first()
      .innerText();
    const numbers = [...printed.matchAll(/line (\d+)/g)].map(([, number]) => Number(number));
    assert.equal(numbers.at(-1), lines);
    // VS Code draws only some of the lines. No line may appear twice or in the wrong place.
    assert.ok(numbers.length > 20, `${numbers.length} lines are drawn`);
    assert.deepEqual(
      numbers,
      [...new Set(numbers)].toSorted((a, b) => a - b),
    );
    const saved = await savedLines(window);
    // Compare only the index of the first wrong line, because the difference of all lines would fill a screen.
    assert.equal(
      saved.findIndex((line, index) => line !== `line ${index + 1}`),
      -1,
    );
    assert.equal(saved.length, lines);
  });

  test('lists its variables, and shows one that is a table', async () => {
    const { page } = window;
    await runCell(page, at('table'));
    await openCatalog(page);
    const orders = page.locator('.monaco-list-row[aria-label^="orders, Table, shop/eu/orders"]');
    await orders.waitFor({ timeout: patience });
    await page.locator('.monaco-list-row[aria-label^="kept, number, 41"]').waitFor();
    await shoot(window, 'notebook-variables');
    await orders.click();
    const grid = await frameWith(page, '.lance-grid', patience);
    await grid.locator('[role=gridcell]').first().waitFor({ timeout: patience });
    assert.match(await grid.locator('.lance-footer').innerText(), /The first 10,000 of 1,000,000 rows/);
    // The table's panel is active, and the variables of the notebook must still be listed.
    await orders.waitFor({ timeout: patience });
    await shoot(window, 'notebook-variable-table');
    await page.locator('.tab', { hasText: 'kernel.ipynb' }).click();
  });

  test('marks the cells that ran before a restart, and restarts the count', async () => {
    const { page } = window;
    await cellAt(page, at('throws')).waitFor();
    await clickToolbar(page, 'Restart Kernel');
    await cellAt(page, at('throws')).getByText('Before restart').waitFor({ timeout: patience });
    await runCell(page, at('table'));
    await counts(page, at('table'), 1);
    await cellAt(page, at('table')).getByText('Before restart').waitFor({ state: 'detached' });
    await cellAt(page, at('throws')).getByText('Before restart').waitFor();
  });

  for (const [theme, kind, name] of [
    ['Dark 2026', 'vs-dark', 'dark'],
    ['Dark High Contrast', 'hc-black', 'high-contrast'],
  ] as const) {
    test(`can be read in the theme ${theme}`, async () => {
      const { page } = window;
      await switchTheme(page, theme);
      await page.locator(`.monaco-workbench.${kind}`).waitFor();
      const output = await frameWith(page, 'a:text-matches("^\\\\[\\\\d+\\\\]:2:\\\\d+$")', patience);
      await output.locator(`body.${bodyOf[kind]}`).waitFor({ state: 'attached' });
      for (const text of ['RangeError: too far', 'printed after 41']) {
        const [colour, ground] = await output.getByText(text).first().evaluate(colours);
        assert.ok(contrast(colour, ground) >= 4.5, `${text}: ${colour} on ${ground}`);
      }
      await shoot(window, `notebook-${name}`);
    });
  }
}

/** The class names of themes in the page of outputs. */
const bodyOf = { 'vs-dark': 'vscode-dark', 'hc-black': 'vscode-high-contrast' };

type Saved = { cells: { outputs: { output_type: string; text?: string[] }[] }[] };

/** Saves until the file contains the output of the cell, and returns its lines. */
async function savedLines({ page, folder }: Window): Promise<string[]> {
  for (const end = Date.now() + patience; ; await page.waitForTimeout(500)) {
    await page.keyboard.press('Control+S');
    const { cells } = JSON.parse(readFileSync(join(folder, 'kernel.ipynb'), 'utf8')) as Saved;
    const streams = cells[at('prints')]?.outputs.filter(({ output_type }) => output_type === 'stream') ?? [];
    const text = streams.flatMap((stream) => stream.text ?? []).join('');
    if (text.includes(`line ${lines}`)) return text.split('\n');
    assert.ok(Date.now() < end, 'the notebook is saved');
  }
}
