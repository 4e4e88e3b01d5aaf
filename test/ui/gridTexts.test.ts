import assert from 'node:assert/strict';
import type { Browser, Page } from 'playwright-core';
import { columnsOf } from '#shared/arrow/arrowTypes.ts';
import { readArrow } from '#shared/arrow/readArrow.ts';
import { halfBits } from '#shared/format/numbers.ts';
import { launchChromium } from '../harness/browser.ts';
import { textRows, writeArrowTexts } from './parts/arrowTexts.ts';
import type { Served } from './parts/pages.ts';
import { inPanelPage, PanelHostStandIn, servePanel, tableOf } from './parts/panelHostStandIn.ts';

type Exception = {
  /** Matches the name of the columns. */
  readonly columns: RegExp;
  readonly reason: string;
  /** Whether a drawn text is what the reason says, for the text by the rule. */
  readonly isSame: (drawn: string, text: string) => boolean;
};

/** Where drawn texts differ from the rule in `parts/arrowTexts.ts`. All other texts are equal. */
const exceptions: readonly Exception[] = [
  {
    columns: /float|double/,
    reason: 'A float has the fewest digits that read back as it, and the names and exponents of JavaScript.',
    isSame: (drawn, text) =>
      /^(NaN|-?Infinity|-?\d[\d.]*(e[+-]\d+)?)$/.test(drawn) &&
      digitsOf(drawn).length <= Math.max(1, digitsOf(text).length),
  },
  {
    columns: /^(time|timestamp)/,
    reason: 'Digits below a second are in groups of three, as few as needed, and an offset has a colon.',
    isSame: (drawn, text) =>
      drawn ===
      text
        .replace(/\.\d+/, (fraction) => fraction.replace(/(000)+$/, '').replace(/^\.$/, ''))
        .replace(/([+-]\d\d)(\d\d)$/, '$1:$2'),
  },
  {
    columns: /^duration/,
    reason: 'A duration has days, hours, minutes and seconds in place of a count.',
    isSame: (drawn, text) => /^-?(\d+d ?)?(\d+h ?)?(\d+m ?)?(\d+(\.\d+)?s)?$/.test(drawn) && text !== drawn,
  },
  {
    columns: /^decimal128/,
    reason: 'A decimal has no exponent.',
    isSame: (drawn, text) => {
      const [, sign, digits, places] = /^(-?)(\d+)E-(\d+)$/.exec(text) ?? [];
      return drawn === `${sign}0.${digits?.padStart(Number(places), '0')}`;
    },
  },
  {
    columns: /^odd_utf8/,
    reason: 'Empty strings and characters that can not be seen have marks.',
    isSame: (drawn, text) => drawn === marked[text],
  },
  {
    columns: /vector/,
    reason: 'A vector has its dimension and norm before its items.',
    isSame: (drawn, text) => /^\d+ · norm [\d.]+\[/.test(drawn) && drawn.endsWith(text),
  },
];

const marked: Readonly<Record<string, string>> = {
  '': '""',
  ' both ': '·both·',
  'line\nline': 'line↵line',
  'evil\u202Etxt.exe': 'evil⟨U+202E⟩txt.exe',
  'tab\tstop': 'tab→stop',
  '\u001B[31mred': '⟨U+001B⟩[31mred',
  'a\u200Bb': 'a⟨U+200B⟩b',
};

/** Returns the digits of a number that count, without zeros at the ends. */
const digitsOf = (text: string): string =>
  text
    .replace(/e.*/, '')
    .replaceAll(/\D/g, '')
    .replaceAll(/^0+|0+$/g, '');

/** Returns the bits of a float by its text and column, so that equal texts are equal floats. */
function floatBits(text: string, column: string): string {
  const number = Number(text.replace('inf', 'Infinity').replace('nan', 'NaN'));
  if (column === 'halffloat') return String(halfBits(number));
  const values = column === 'double' || column === 'small_float' ? Float64Array.of(number) : Float32Array.of(number);
  return Buffer.from(values.buffer).toString('hex');
}

const perSecond = { s: 1n, ms: 1_000n, us: 1_000_000n, ns: 1_000_000_000n } as const;

/** Returns the count of a drawn duration. */
function durationCount(drawn: string, unit: keyof typeof perSecond): bigint {
  const part = (letter: string): bigint => BigInt(new RegExp(`(\\d+)${letter}`).exec(drawn)?.[1] ?? 0);
  const [, whole = '0', fraction = ''] = /(\d+)(?:\.(\d+))?s$/.exec(drawn) ?? [];
  const seconds = part('d') * 86_400n + part('h') * 3_600n + part('m') * 60n + BigInt(whole);
  const count = seconds * perSecond[unit] + (BigInt(fraction.padEnd(9, '0') || 0) * perSecond[unit]) / 1_000_000_000n;
  return drawn.startsWith('-') ? -count : count;
}

suite('The texts that the grid draws', function () {
  this.timeout(60_000);
  const { stream, texts } = writeArrowTexts();
  const { schema } = readArrow(stream);
  const names = schema.fields.map(({ name }) => name);
  /** The drawn texts, by column. */
  let drawn: Readonly<Record<string, string[]>>;
  let server: Served;
  let browser: Browser;

  suiteSetup(async () => {
    server = await servePanel();
    browser = await launchChromium();
    // So wide that all columns are in the view.
    await inPanelPage(browser, { width: 18_000, height: 500 }, async (page) => {
      const host = new PanelHostStandIn(page, tableOf(textRows, { key: 'texts', columns: columnsOf(schema) }));
      host.rows = () => stream;
      await host.open(server.url, 'light');
      await page
        .locator(`[role=row][aria-rowindex="2"] [role=gridcell][aria-colindex="${names.length + 1}"]`)
        .waitFor();
      await page.waitForFunction(() => document.querySelector('[aria-busy]') === null);
      drawn = await drawnTexts(page);
      host.close();
    });
  });

  suiteTeardown(async () => {
    await browser?.close();
    server?.close();
  });

  /** Returns the texts of the cells, as they are read from left to right. */
  async function drawnTexts(page: Page): Promise<Record<string, string[]>> {
    const rows = await page
      .locator('.lance-rows > [role=row]')
      .evaluateAll((all) =>
        all.map((row) => [...row.querySelectorAll('[role=gridcell]')].map(({ textContent }) => textContent ?? '')),
      );
    assert.equal(rows.length, textRows);
    return Object.fromEntries(names.map((name, column) => [name, rows.map((row) => row[column] ?? '')]));
  }

  for (const name of names)
    test(`of column "${name}" equal those of pyarrow by the rule, or differ as an exception says`, () => {
      const exception = exceptions.find(({ columns }) => columns.test(name));
      const wrong = drawn[name]!.flatMap((text, row) => {
        const expected = texts[name]![row]!;
        return text === expected || exception?.isSame(text, expected) === true ? [] : [{ drawn: text, expected }];
      });
      assert.deepEqual(wrong, []);
      if (name.includes('float') || name === 'double')
        assert.deepEqual(
          drawn[name]!.map((text) => (text === 'null' ? text : floatBits(text, name))),
          texts[name]!.map((text) => (text === 'null' ? text : floatBits(text, name))),
        );
      const unit = /^duration_(\w+)/.exec(name)?.[1] as keyof typeof perSecond | undefined;
      if (unit !== undefined)
        assert.deepEqual(
          drawn[name]!.map((text) => (text === 'null' ? text : String(durationCount(text, unit)))),
          texts[name],
        );
    });

  for (const { columns, reason } of exceptions)
    test(`need this exception: ${reason}`, () => {
      const found = names.filter((name) => columns.test(name));
      assert.ok(found.some((name) => drawn[name]!.some((text, row) => text !== texts[name]![row])));
    });
});
