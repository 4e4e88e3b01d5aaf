import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { shoot, type Window } from '../../harness/window.ts';
import { runCommand } from '../../harness/workbench.ts';
import { switchTheme } from './catalogWindow.ts';
import { cellAt, notebookOf, openNotebook, patience } from './notebookWindow.ts';

const cells = {
  plain:
    'const limit = 10; // as many\nconst orders = await db.openTable("orders", { namespacePath: ["shop", "eu"] });',
  sql: `%%sql --to top\nselect name, count(*) as n\nfrom shop.eu.orders -- the large ones\nwhere amount > \${limit} and name <> 'none'\ngroup by name`,
  shell: '%%sh\nfor each in *.ipynb; do\n  echo "$each"\ndone',
  time: '%time await orders.countRows()\n%install --yes d3-array@3',
  template:
    'const rows = await sql`\n  select name from shop.eu.orders\n  where amount > ${limit + 1}\n`;\nrows.numRows;',
};

type Name = keyof typeof cells;
const names = Object.keys(cells) as Name[];

/** Defines the tests of colors in cells that contain more than TypeScript, in a shared window. */
export function colouringCells(open: () => Window): void {
  let window: Window;

  suiteSetup(async () => {
    window = open();
    writeFileSync(join(window.folder, 'colours.ipynb'), notebookOf(Object.values(cells)));
    await openNotebook(window.page, 'colours.ipynb');
  });

  suiteTeardown(async () => {
    await runCommand(window.page, 'View: Revert and Close Editor');
    await cellAt(window.page, 0).waitFor({ state: 'detached' });
  });

  /** Returns the color of a word in a cell. */
  async function colourOf(name: Name, word: string): Promise<string> {
    const found = cellAt(window.page, names.indexOf(name)).locator('.view-line span[class^="mtk"]');
    const exactly = new RegExp(`^\\s*${word.replaceAll(' ', String.raw`\s`)}\\s*$`);
    const span = found.filter({ hasText: exactly }).first();
    await span.waitFor({ timeout: patience / 4 });
    return span.evaluate((element) => getComputedStyle(element).color);
  }

  /** Returns the current colors of words that are not TypeScript, and their expected colors. */
  async function coloursNow(): Promise<{ seen: object; expected: object }> {
    const all = (name: Name, ...words: string[]): Promise<string[]> =>
      Promise.all(words.map((word) => colourOf(name, word)));
    const [keyword, control, text] = await all('plain', 'const', 'await', '"orders"');
    const [comment] = await all('plain', '// as many');
    const magics = [...(await all('time', '%time', '%install', 'await')), await colourOf('shell', '%%sh')];
    const sqlWords = [...(await all('sql', 'select', 'where')), ...(await all('template', 'select', 'where'))];
    return {
      seen: {
        magics: [...magics, await colourOf('sql', '%%sql')],
        sqlWords,
        sqlRest: await all('sql', '-- the large ones', `'none'`),
        shellWords: await all('shell', 'for', 'done'),
        differ: new Set([keyword, control, text, comment]).size,
      },
      expected: {
        magics: Array.from({ length: 5 }, () => control),
        sqlWords: sqlWords.map(() => keyword),
        sqlRest: [comment, text],
        shellWords: [control, control],
        differ: 4,
      },
    };
  }

  for (const [theme, id] of [
    ['Light Modern', 'vs'],
    ['Dark Modern', 'vs-dark'],
  ] as const)
    test(`shows SQL, commands and magics in their colours in ${theme}`, async () => {
      await switchTheme(window.page, theme);
      await window.page.locator(`.monaco-workbench.${id}`).waitFor();
      // Wait for the colors: they appear after the text, and TypeScript's more precise colors appear even later.
      for (const end = Date.now() + patience; ;) {
        const { seen, expected } = await coloursNow();
        if (isDeepStrictEqual(seen, expected)) break;
        if (Date.now() > end) assert.deepEqual(seen, expected);
        await window.page.waitForTimeout(200);
      }
      await shoot(window, `colours-${id}`);
    });
}
