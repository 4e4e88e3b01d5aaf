import assert from 'node:assert/strict';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import type { JobOutputNews, JobOutputRequest } from '#shared/jobs/jobOutput.ts';
import type { JobView } from '#shared/jobs/jobView.ts';
import { launchChromium } from '../harness/browser.ts';
import { endedJob, someJob } from '../unit/extension/jobs/someJob.ts';
import { colours, contrast } from './parts/contrast.ts';
import { inPage, outputTheme, serveRenderer, type Served } from './parts/pages.ts';
import type { ThemeName } from './parts/themes.ts';

const shots = join(import.meta.dirname, '../../test-results/jobOutput');

/** Globals of the test page: the renderer, its messages, and a function that sends it a message. */
type Renderer = { renderOutputItem(item: unknown, element: Element): void; disposeOutputItem(id?: string): void };
type TestWindow = {
  renderer: Renderer;
  said: JobOutputRequest[];
  tell(news: JobOutputNews): void;
  show(id: string, output: unknown): void;
};

const failing = someJob({
  errors: {
    count: 1234,
    samples: [{ fragment: 3, row: 1042, message: '<img src=x onerror=alert(1)>', inputs: { note: 'x' } }],
  },
  bottleneck: 'Waiting for 4 of 8 workers: no node has a free GPU.',
});

const show = (page: Page, id: string, job: JobView): Promise<void> =>
  page.evaluate(([at, output]) => (window as unknown as TestWindow).show(at, output), [
    id,
    { version: 1, job },
  ] as const);
const tell = (page: Page, jobs: readonly JobView[]): Promise<void> =>
  page.evaluate((all) => (window as unknown as TestWindow).tell({ kind: 'jobs', jobs: all }), jobs);
const said = (page: Page): Promise<JobOutputRequest[]> => page.evaluate(() => (window as unknown as TestWindow).said);
const bar = (page: Page) => page.getByRole('progressbar');

suite('A job in the output of a cell, in a browser', function () {
  this.timeout(60_000);
  let server: Served;
  let browser: Browser;

  suiteSetup(async () => {
    await mkdir(shots, { recursive: true });
    server = await serveRenderer('jobRenderer.js', '<!doctype html><html lang="en"><body></body></html>');
    browser = await launchChromium();
  });

  suiteTeardown(async () => {
    await browser?.close();
    server?.close();
  });

  /** Opens a page with the renderer, with or without an editor that handles its messages. */
  async function withRenderer(
    run: (page: Page) => Promise<void>,
    { theme = 'dark', isHeard = true }: { theme?: ThemeName; isHeard?: boolean } = {},
  ): Promise<void> {
    await inPage(browser, { width: 900, height: 500 }, async (page) => {
      await page.goto(server.url);
      await page.evaluate(
        async ([properties, heard]) => {
          for (const [name, value] of Object.entries(properties)) document.body.style.setProperty(name, value);
          document.body.style.background = 'var(--vscode-editor-background)';
          const { activate } = (await import(`${location.href}renderer.js`)) as {
            activate: (context: unknown) => Renderer;
          };
          const here = window as unknown as TestWindow;
          here.said = [];
          const messaging = {
            postMessage: (message: JobOutputRequest) => here.said.push(message),
            onDidReceiveMessage: (listener: (news: JobOutputNews) => void) => (here.tell = listener),
          };
          here.renderer = activate(heard ? messaging : {});
          here.show = (id, output) => {
            const element = document.getElementById(id) ?? document.body.appendChild(document.createElement('div'));
            element.id = id;
            here.renderer.renderOutputItem({ id, json: () => output }, element);
          };
        },
        [outputTheme(theme), isHeard] as const,
      );
      await run(page);
    });
  }

  for (const theme of ['dark', 'light', 'highContrast', 'highContrastLight'] as const) {
    test(`can be read in the theme ${theme}`, () =>
      withRenderer(
        async (page) => {
          await show(page, 'a', failing);
          await bar(page).waitFor();
          for (const text of await page.locator('.job-output p, .job-output h4, .job-output li').all()) {
            const [colour, ground] = await text.evaluate(colours);
            assert.ok(contrast(colour, ground) >= 4.5, `${colour} on ${ground}: ${await text.innerText()}`);
          }
          await page.screenshot({ path: join(shots, `${theme}.png`) });
        },
        { theme },
      ));
  }

  test('says how far it is, what holds it up and which rows failed, as text', () =>
    withRenderer(async (page) => {
      await show(page, 'a', failing);
      assert.equal(await bar(page).getAttribute('aria-valuenow'), '42');
      await page.getByText('Waiting for 4 of 8 workers: no node has a free GPU.').waitFor();
      await page.getByText('row 1042 of fragment 3: <img src=x onerror=alert(1)>').waitFor();
    }));

  test('is requested once while it runs, and never after its end', () =>
    withRenderer(async (page) => {
      await show(page, 'a', someJob());
      await show(page, 'a', someJob({ rows: { done: 430_000, total: 1_000_000, reused: 0 } }));
      await show(page, 'b', endedJob({ id: 'bf-0002' }));
      assert.deepEqual(await said(page), [{ kind: 'look', id: 'bf-0001' }]);
    }));

  test('keeps the button that a person is at while it goes on, and does what it says', () =>
    withRenderer(async (page) => {
      await show(page, 'a', someJob());
      await page.getByRole('button', { name: 'Cancel' }).focus();
      await show(page, 'a', someJob({ rows: { done: 500_000, total: 1_000_000, reused: 0 } }));
      await tell(page, [someJob({ rows: { done: 600_000, total: 1_000_000, reused: 0 } })]);
      await page.waitForFunction(() => document.getElementById('a')?.shadowRoot?.querySelector('[aria-valuenow="60"]'));
      await page.keyboard.press('Enter');
      await page.getByRole('button', { name: 'Show Job' }).click();
      assert.deepEqual((await said(page)).slice(1), [
        { kind: 'act', id: 'bf-0001', action: 'cancel' },
        { kind: 'act', id: 'bf-0001', action: 'open' },
      ]);
    }));

  test('goes on by what the editor tells after its cell has ended', () =>
    withRenderer(async (page) => {
      await show(page, 'a', someJob());
      await tell(page, [endedJob()]);
      await page.getByText('All 1,000,000 rows are computed.').waitFor();
      assert.equal(await page.getByRole('button', { name: 'Cancel' }).count(), 0);
      await page.getByRole('button', { name: 'Open Table' }).waitFor();
    }));

  test('has no buttons without an editor', () =>
    withRenderer(
      async (page) => {
        await show(page, 'a', someJob());
        await bar(page).waitFor();
        assert.equal(await page.getByRole('button').count(), 0);
      },
      { isHeard: false },
    ));

  test('a value that is not a job gives one message', () =>
    withRenderer(async (page) => {
      for (const output of [null, { version: 2 }, { version: 1, job: { id: 'x' } }]) {
        await page.evaluate((given) => (window as unknown as TestWindow).show('a', given), output);
        await page.getByText("Can't read the job in this output.").waitFor();
      }
    }));
});
