import assert from 'node:assert/strict';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { Table, tableToIPC, TimestampMillisecond, vectorFromArray } from '#arrow';
import { arrowStreamMime } from '#shared/mime.ts';
import { encodePng } from '../../scripts/sample/pictures.ts';
import { launchChromium } from '../harness/browser.ts';
import { inPage, outputTheme, serveRenderer, type Served } from './parts/pages.ts';
import type { ThemeName } from './parts/themes.ts';
import { base64, outputOf, utf8, senseless } from './parts/rendererOutputs.ts';

const shots = join(import.meta.dirname, '../../test-results/grid');

/**
 * Stands in for the page of a notebook. The page has style rules for tables, which must not apply inside an output, and
 * listeners that would take wheel and key events from an output. Tests in the workbench use a real notebook.
 */
const notebookPage = `<!doctype html><html lang="en"><head><meta charset="utf-8">
<style>table { border: 5px solid red !important } td, th { background: pink; padding: 9px; text-align: center }
.output { margin: 8px 40px }</style></head><body><div id="notebook"></div></body></html>`;

type Output = { id: string; text: string; metadata?: unknown };

async function checkFooters(page: Page): Promise<void> {
  const footers = page.locator('.lance-footer');
  const start = 'Showing 3 of 500 rows · 9 columns · A cell output holds';
  await footers.getByText(`${start} 256 KB. For up to 8 MB, use display(…, { limit: 500 })`).waitFor();
  await footers.getByText(`${start} 8 MB. Select fewer columns, or open the table`).waitFor();
  assert.deepEqual(await page.locator('#of256 .lance-omitted').allInnerTexts(), ['image/png, 132,618 bytes']);
  assert.match((await page.locator('#of256 .lance-omitted').getAttribute('title')) ?? '', /not in the output/);
  assert.equal(await page.locator('#of256 .lance-image').count(), 2);
}

/** Returns what the renderer has requested of the editor. */
const saidBy = (page: Page, method: string): Promise<{ id: number; params: unknown }[]> =>
  page.evaluate((wanted) => {
    const { said } = window as unknown as { said: { id: number; method?: string; params: unknown }[] };
    return said.filter((one) => one.method === wanted);
  }, method);

suite('The notebook renderer, in a browser', function () {
  this.timeout(60_000);
  let server: Served;
  let browser: Browser;

  suiteSetup(async () => {
    await mkdir(shots, { recursive: true });
    server = await serveRenderer('renderer.js', notebookPage);
    browser = await launchChromium();
  });

  suiteTeardown(async () => {
    await browser?.close();
    server?.close();
  });

  /** Shows outputs below each other in a new page, in an editor or in an exported notebook. */
  async function withOutputs(
    outputs: Output[],
    run: (page: Page) => Promise<void>,
    { theme = 'light', isExported = false }: { theme?: ThemeName; isExported?: boolean } = {},
  ) {
    await inPage(browser, { width: 1700, height: 800 }, async (page) => {
      await page.goto(server.url);
      await page.evaluate(
        async ([all, properties, hasNoEditor]) => {
          for (const [name, value] of Object.entries(properties)) document.body.style.setProperty(name, value);
          document.body.style.background = 'var(--vscode-editor-background)';
          const { activate } = (await import(`${location.href}renderer.js`)) as {
            activate: (context: unknown) => { renderOutputItem(item: unknown, element: Element): void };
          };
          const said: unknown[] = [];
          const listeners: ((message: unknown) => void)[] = [];
          const tell = (message: unknown): void => {
            for (const listener of listeners) listener(message);
          };
          Object.assign(window, { tell });
          const editor = {
            postMessage: (message: unknown) => said.push(message),
            onDidReceiveMessage: (listener: (message: unknown) => void) => {
              listeners.push(listener);
            },
          };
          const renderer = activate(hasNoEditor ? {} : editor);
          Object.assign(window, { renderer, said });
          for (const { id, text, metadata } of all) {
            const element = document.createElement('div');
            element.className = 'output';
            element.id = id;
            document.getElementById('notebook')?.append(element);
            const item = { id, metadata, text: () => text, data: () => new TextEncoder().encode(text) };
            renderer.renderOutputItem(item, element);
          }
        },
        [outputs, outputTheme(theme), isExported] as const,
      );
      await run(page);
    });
  }

  test('draws a saved output with its types, exact values, pictures and vectors', () =>
    withOutputs([{ id: 'a', text: base64(3) }], async (page) => {
      await page.locator('.lance-image').first().waitFor();
      assert.equal(
        await page.locator('[role=row][aria-rowindex="3"] [role=gridcell]').first().innerText(),
        '9007199254740994',
      );
      assert.equal(await page.locator('.lance-type').first().innerText(), 'int64');
      assert.equal(await page.locator('.lance-vector path').count(), 3);
      assert.equal(await page.locator('.lance-footer-text').innerText(), '3 rows · 9 columns');
    }));

  test('says how much of the result the output holds, where the editor keeps it and where the notebook does', () => {
    const metadata = { [arrowStreamMime]: { total_rows: 1_000_000, included_rows: 50 } };
    const saved = { outputType: 'execute_result', metadata };
    const outputs = [metadata, saved].map((each, i) => ({ id: `output-${i}`, text: base64(50), metadata: each }));
    const uncounted = { [arrowStreamMime]: { total_rows: null, included_rows: 50 } };
    const all = [...outputs, { id: 'uncounted', text: base64(50), metadata: uncounted }];
    const check = async (page: Page): Promise<void> => {
      const more = '9 columns · For more rows, use display(…, { limit })';
      for (const { id } of outputs)
        await page.locator(`#${id}`).getByText(`Showing 50 of 1,000,000 rows · ${more}`).waitFor();
      await page.locator('#uncounted').getByText(`The first 50 rows · ${more}`).waitFor();
      assert.equal(await page.getByRole('button', { name: 'Open in Panel' }).count(), 0);
    };
    return withOutputs(all, check, { isExported: true });
  });

  test('opens its table in a panel, by the id of the kernel or with its data, from the footer and the menu of a cell', () => {
    const told = { [arrowStreamMime]: { total_rows: 1_000_000, included_rows: 3 } };
    const outputs = [
      { id: 'known', text: base64(3), metadata: { outputType: 'display_data', table: 'table-1', metadata: told } },
      { id: 'unknown', text: base64(2) },
    ];
    return withOutputs(outputs, async (page) => {
      await page.locator('#known').getByText('Showing 3 of 1,000,000 rows · 9 columns', { exact: true }).waitFor();
      await page.locator('#known').getByRole('button', { name: 'Open in Panel' }).click();
      await page.locator('#unknown [role=gridcell]').first().click({ button: 'right' });
      await page.locator('#unknown').getByRole('menuitem', { name: 'Open in Panel' }).click();
      const requests = await saidBy(page, 'openTable');
      assert.deepEqual(
        requests.map(({ params }) => params),
        [
          { table: 'table-1', data: null },
          { table: null, data: base64(2) },
        ],
      );
    });
  });

  test('shows times in the zone of the setting, and keeps the selected cell when it changes', () => {
    const at = vectorFromArray([new Date('2024-05-06T20:08:09Z')], new TimestampMillisecond('Asia/Tokyo'));
    const text = Buffer.from(tableToIPC(new Table({ id: vectorFromArray([1]), at }), 'stream')).toString('base64');
    return withOutputs([{ id: 'a', text }], async (page) => {
      const cell = page.locator('#a [role=gridcell][aria-colindex="3"]');
      await cell.getByText('2024-05-07 05:08:09').waitFor();
      await cell.click();
      await page.locator('#a .lance-active[aria-colindex="3"]').waitFor();
      const [request] = await saidBy(page, 'timeZone');
      const tell = (frame: unknown) =>
        page.evaluate((message) => (window as unknown as { tell(message: unknown): void }).tell(message), frame);
      await tell({ v: 1, re: request!.id, ok: true, result: 'utc' });
      await cell.getByText('2024-05-06 20:08:09').waitFor();
      await page.locator('#a .lance-active[aria-colindex="3"]').waitFor();
      await tell({ v: 1, id: 1, method: 'showTimeZone', params: 'column' });
      await cell.getByText('2024-05-07 05:08:09').waitFor();
      await tell({ v: 1, id: 2, method: 'showTimeZone', params: { zone: 'no text' } });
      await cell.getByText('2024-05-07 05:08:09').waitFor();
    });
  });

  test('says why rows and pictures are left out, and what helps', () => {
    const omitted = { picture: { from: 1, sizes: [132_618, 0], mime: 'image/png' }, id: { from: 'x', sizes: 7 } };
    const cut = (most: number) => ({ total_rows: 500, included_rows: 3, max_bytes: most, omitted_cells: omitted });
    const outputs = [256, 8192].map((kilobytes) => ({
      id: `of${kilobytes}`,
      text: base64(3),
      metadata: { [arrowStreamMime]: cut(kilobytes * 1024) },
    }));
    return withOutputs(outputs, (page) => checkFooters(page), { isExported: true });
  });

  test('shows thumbnails, and on a click the whole picture from the kernel, or why it is missing', () => {
    const omitted = { picture: { from: 0, sizes: [130_000, 0, 140_000], mime: 'image/jpeg', thumbnails: true } };
    const told = { total_rows: 3, included_rows: 3, omitted_cells: omitted, pictures: 'output-1' };
    const outputs = [{ id: 'a', text: base64(3), metadata: { [arrowStreamMime]: told } }];
    const image = Buffer.from(encodePng({ width: 300, height: 200, rgba: Buffer.alloc(240_000, 200) }));
    return withOutputs(outputs, async (page) => {
      await page.locator('.lance-footer', { hasText: '3 rows · 9 columns · Click a thumbnail' }).waitFor();
      const pictureAt = (row: number) =>
        page.locator(`[role=row][aria-rowindex="${row + 2}"] [role=gridcell]`, { has: page.locator('.lance-image') });
      const tell = (request: number, data: string | null) =>
        page.evaluate((reply) => (window as unknown as { tell(reply: unknown): void }).tell(reply), {
          kind: 'picture',
          request,
          data,
        });
      assert.equal(await pictureAt(0).locator('.lance-image').getAttribute('aria-label'), 'image/jpeg, 130,000 bytes');
      await pictureAt(0).locator('.lance-image').click();
      const large = page.locator('.lance-large');
      await large.getByText('Loading the whole image').waitFor();
      const said = await page.evaluate(() => (window as unknown as { said: { kind?: string }[] }).said);
      assert.deepEqual(
        said.filter(({ kind }) => kind !== undefined),
        [{ kind: 'picture', request: 1, place: { output: 'output-1', column: 'picture', row: 0 } }],
      );
      await tell(1, image.toString('base64'));
      await large.locator('p').waitFor({ state: 'hidden' });
      assert.equal(
        await large.locator('img').evaluate((img: HTMLImageElement) => img.decode().then(() => img.naturalWidth)),
        300,
      );
      await page.screenshot({ path: join(shots, 'thumbnail.png') });
      await page.keyboard.press('Escape');
      await pictureAt(2).locator('.lance-image').click();
      await tell(2, null);
      await large.getByText('Run the cell again').waitFor();
      await page.keyboard.press('Escape');
      // A picture that is whole in the output is not requested.
      await pictureAt(1).locator('.lance-image').click();
      await large.waitFor({ state: 'visible' });
      assert.equal(await large.locator('p').isVisible(), false);
    });
  });

  test('has above it what its rows are of, as text and however long', () => {
    const told = { total_rows: 5, included_rows: 5, title: 'shop/<b>mugs</b>', facts: `version 3 ${'x'.repeat(2000)}` };
    const outputs = [
      { id: 'told', text: base64(5), metadata: { [arrowStreamMime]: told } },
      { id: 'untold', text: base64(5), metadata: { [arrowStreamMime]: { title: 7, facts: null } } },
    ];
    return withOutputs(outputs, async (page) => {
      await page.locator('#untold .lance-image').first().waitFor();
      assert.match(await page.locator('#told .lance-title').innerText(), /^shop\/<b>mugs<\/b> version 3 x+$/);
      assert.equal(await page.locator('#untold .lance-title').count(), 0);
      const [first, second] = await Promise.all(
        ['#told', '#untold'].map(async (id) => (await page.locator(`${id} .lance-output`).boundingBox())!),
      );
      assert.equal(first!.height - second!.height, 26, 'one line');
      assert.equal(first!.width, second!.width);
      const last = await page.locator('#told [role=row][aria-rowindex="6"] [role=gridcell]').first().boundingBox();
      const footer = await page.locator('#told .lance-footer').boundingBox();
      assert.ok(last!.y + last!.height <= footer!.y, 'the last row is in sight');
    });
  });

  test('is no taller than ten rows, and as small as its rows', () =>
    withOutputs(
      [
        { id: 'many', text: base64(500) },
        { id: 'few', text: base64(2) },
        { id: 'none', text: base64(0) },
      ],
      async (page) => {
        await page.locator('#none').getByText('No rows').waitFor();
        const height = async (id: string) => (await page.locator(`#${id}`).boundingBox())!.height;
        assert.ok((await height('many')) < 430);
        assert.equal((await height('many')) - (await height('few')), 8 * 33);
        const last = await page.locator('#few [role=row][aria-rowindex="3"] [role=gridcell]').first().boundingBox();
        const footer = await page.locator('#few .lance-footer').boundingBox();
        assert.ok(last!.y + last!.height <= footer!.y, 'the last of two rows is in sight');
      },
    ));

  test('what can not be read gives one sentence, and the outputs around it stay', () =>
    withOutputs(
      [
        { id: 'before', text: base64(2) },
        { id: 'garbage', text: 'no base64 at all!' },
        { id: 'cut', text: base64(2).slice(0, 700) },
        { id: 'empty', text: '' },
        { id: 'after', text: base64(2) },
      ],
      async (page) => {
        await page.locator('#after .lance-image').first().waitFor();
        for (const [id, says] of [
          ['garbage', /^Can't read the Arrow stream of this output\. .*\.$/],
          ['cut', /^Can't read the Arrow stream of this output\. .*\.$/],
          ['empty', /^This output is a table without columns\.$/],
        ] as const)
          assert.match(await page.locator(`#${id} .lance-unreadable`).innerText(), says);
        assert.equal(await page.locator('#before [role=gridcell]').count(), 18);
      },
    ));

  test('values that can not be drawn give one sentence, and the outputs around them stay', () =>
    withOutputs(
      [
        { id: 'before', text: base64(2) },
        { id: 'senseless', text: outputOf([['broken', senseless()]]) },
        { id: 'after', text: base64(2) },
      ],
      async (page) => {
        await page.locator('#after .lance-image').first().waitFor();
        assert.match(
          await page.locator('#senseless .lance-unreadable').innerText(),
          /^Can't read the Arrow stream of this output\. .*\.$/,
        );
        assert.equal(await page.locator('#before [role=gridcell]').count(), 18);
      },
    ));

  test('columns of one name show their own values under it', () =>
    withOutputs(
      [
        {
          id: 'a',
          text: outputOf([
            ['name', utf8('left')],
            ['name', utf8('right')],
          ]),
        },
      ],
      async (page) => {
        await page.locator('[role=row][aria-rowindex="2"] [role=gridcell]').first().waitFor();
        assert.deepEqual(await page.locator('[role=row][aria-rowindex="2"] [role=gridcell]').allInnerTexts(), [
          'left',
          'right',
        ]);
        assert.deepEqual(await page.locator('.lance-name').allInnerTexts(), ['name', 'name']);
      },
    ));

  test('no style of the notebook reaches the grid, and none of the grid the notebook', () =>
    withOutputs([{ id: 'a', text: base64(2) }], async (page) => {
      await page.locator('.lance-image').first().waitFor();
      const style = await page
        .locator('[role=gridcell]')
        .first()
        .evaluate((td) => {
          const { backgroundColor, paddingLeft } = getComputedStyle(td);
          return [backgroundColor, paddingLeft, getComputedStyle(td.closest('[role=grid]')!).borderTopWidth];
        });
      assert.deepEqual(style, ['rgba(0, 0, 0, 0)', '8px', '0px']);
      assert.equal(await page.evaluate(() => document.head.querySelectorAll('style, link').length), 1);
    }));

  test('the wheel scrolls the output until its end, and then the notebook', () =>
    withOutputs([{ id: 'a', text: base64(100) }], async (page) => {
      await page.locator('.lance-image').first().waitFor();
      await page.evaluate(() => {
        Object.assign(window, { wheels: 0 });
        addEventListener('wheel', () => ((window as unknown as { wheels: number }).wheels += 1));
      });
      const wheels = () => page.evaluate(() => (window as unknown as { wheels: number }).wheels);
      const scroller = page.locator('[role=grid]');
      await scroller.hover();
      await page.mouse.wheel(0, 200);
      await page.waitForFunction(
        () => document.getElementById('a')?.shadowRoot?.querySelector('[role=grid]')?.scrollTop,
      );
      assert.equal(await wheels(), 0);
      await scroller.evaluate((element) => (element.scrollTop = element.scrollHeight));
      await page.waitForTimeout(200);
      await page.mouse.wheel(0, 200);
      await page.waitForFunction(() => (window as unknown as { wheels: number }).wheels === 1);
    }));

  test('arrow keys stay in the grid, Escape leaves it', () =>
    withOutputs([{ id: 'a', text: base64(5) }], async (page) => {
      await page.locator('.lance-image').first().waitFor();
      await page.evaluate(() => {
        const keys: string[] = [];
        Object.assign(window, { keys });
        addEventListener('keydown', (event) => keys.push(event.key));
      });
      await page.locator('[role=row][aria-rowindex="2"] [role=gridcell]').first().click();
      await page.keyboard.press('ArrowDown');
      await page.locator('[role=row][aria-rowindex="3"] [role=gridcell].lance-active').waitFor();
      await page.keyboard.press('Escape');
      assert.deepEqual(await page.evaluate(() => (window as unknown as { keys: string[] }).keys), ['Escape']);
    }));

  test('Enter shows a whole value below the rows of a small output, and Save As… sends it to the editor', () =>
    withOutputs([{ id: 'a', text: base64(1) }], async (page) => {
      const output = page.locator('#a .lance-output');
      const height = async () => (await output.boundingBox())!.height;
      const before = await height();
      await page.locator('#a [role=gridcell][aria-colindex="9"]').click();
      await page.keyboard.press('Enter');
      await page.locator('#a .lance-detail-facts').getByText('128 dimensions').waitFor();
      // The pane takes space of the rows, and the cell stays in the view.
      await page.locator('#a .lance-active').waitFor();
      const [active, pane] = [page.locator('#a .lance-active'), page.locator('#a .lance-pane')];
      const right = await active.evaluate((element) => element.getBoundingClientRect().right);
      assert.ok(right <= (await pane.boundingBox())!.x + 1);
      assert.ok((await height()) > before);
      await page.screenshot({ path: join(shots, 'output-detail.png') });
      await page.locator('#a .lance-pane').getByRole('button', { name: 'Save As…' }).click();
      // The editor's replies, in order: a place, each part, the end.
      for (const [method, result] of [
        ['createFile', { id: 4, name: 'v.json' }],
        ['writeFile', null],
        ['closeFile', null],
      ])
        await page.waitForFunction(
          ([expected, reply]) => {
            const { said, tell } = window as unknown as {
              said: { id?: number; method?: string }[];
              tell: (frame: unknown) => void;
            };
            const request = said.find((one) => one.method === expected);
            if (request) tell({ v: 1, re: request.id, ok: true, result: reply });
            return request !== undefined;
          },
          [method, result] as const,
        );
      await page.locator('#a .lance-detail-status').getByText('Saved "v.json".').waitFor();
      const sent = await page.evaluate(() => {
        const { said } = window as unknown as { said: { method?: string; params: { data: string } }[] };
        return atob(said.find(({ method }) => method === 'writeFile')!.params.data);
      });
      assert.equal((JSON.parse(sent) as unknown[]).length, 128);
      await page.keyboard.press('Escape');
      await page.locator('#a .lance-pane').waitFor({ state: 'detached' });
      assert.equal(await height(), before);
    }));

  test('a disposed output leaves nothing, and can be drawn again', () =>
    withOutputs([{ id: 'a', text: base64(5) }], async (page) => {
      await page.locator('.lance-image').first().waitFor();
      const left = await page.evaluate((text) => {
        type Renderer = {
          renderOutputItem(item: unknown, element: Element): void;
          disposeOutputItem(id?: string): void;
        };
        const { renderer } = window as unknown as { renderer: Renderer };
        const element = document.getElementById('a')!;
        renderer.disposeOutputItem('a');
        const length = element.shadowRoot!.textContent.length;
        renderer.renderOutputItem({ id: 'a', data: () => new TextEncoder().encode(text) }, element);
        return length;
      }, base64(2));
      assert.equal(left, 0);
      await page.getByText('2 rows · 9 columns').waitFor();
    }));

  for (const theme of ['dark', 'highContrast'] as const) {
    test(`is drawn in the colours of the ${theme} theme`, () =>
      withOutputs(
        [{ id: 'a', text: base64(30) }],
        async (page) => {
          await page.locator('.lance-image').first().waitFor();
          const background = await page
            .locator('.lance-header')
            .first()
            .evaluate((th) => getComputedStyle(th).backgroundColor);
          assert.equal(background, theme === 'dark' ? 'rgb(31, 31, 31)' : 'rgb(0, 0, 0)');
          await page.screenshot({ path: join(shots, `notebook-${theme}.png`) });
        },
        { theme },
      ));
  }
});
