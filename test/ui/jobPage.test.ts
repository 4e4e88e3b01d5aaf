import assert from 'node:assert/strict';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import type { JobPageHostMethods, JobPageState, JobPageViewMethods } from '#shared/jobs/jobPageMessages.ts';
import type { JobView } from '#shared/jobs/jobView.ts';
import { Endpoint } from '#shared/protocol/rpc.ts';
import { eventually } from '../contract/eventually.ts';
import { launchChromium } from '../harness/browser.ts';
import { endedJob, someJob } from '../unit/extension/jobs/someJob.ts';
import { somePlan } from '../unit/extension/jobs/somePlan.ts';
import { colours, contrast } from './parts/contrast.ts';
import type { Served } from './parts/pages.ts';
import { dress, inPanelPage, servePanel } from './parts/panelHostStandIn.ts';
import type { ThemeName } from './parts/themes.ts';

const shots = join(import.meta.dirname, '../../test-results/jobPage');

/**
 * Stands in for the extension host behind the page of a job, because some states are hard to create. Tests in the
 * workbench use the real extension host.
 */
class JobPageHostStandIn {
  readonly acted: string[] = [];
  log = '';
  readonly #endpoint: Endpoint<JobPageHostMethods, JobPageViewMethods>;

  constructor(page: Page, state: JobPageState) {
    const post = (frame: unknown) =>
      void page.evaluate((message) => window.postMessage(message), frame).catch(() => {});
    this.#endpoint = new Endpoint<JobPageHostMethods, JobPageViewMethods>(post, {
      ready: () => state,
      log: ({ from }) => ({ text: this.log.slice(from), next: this.log.length }),
      act: ({ action }) => (this.acted.push(action), null),
    });
  }

  receive(frame: unknown): void {
    void this.#endpoint.receive(frame);
  }

  show(job: JobView): Promise<unknown> {
    return this.#endpoint.request('show', { kind: 'job', job });
  }

  close(): void {
    this.#endpoint.close();
  }
}

const bar = (page: Page) => page.getByRole('progressbar');

const now = Date.now();
const running = (change: Partial<JobView> = {}): JobView =>
  someJob({ createdAt: now - 180_000, startedAt: now - 175_000, ...change });
const troubled = running({
  errors: {
    count: 1234,
    samples: [
      {
        fragment: 3,
        row: 17,
        message: "TypeError: Cannot read properties of null (reading 'length')",
        inputs: { note: 'null' },
      },
      { fragment: 3, row: 1042, message: '<img src=x onerror=alert(1)>', inputs: { note: '<b>bold</b> order 1042' } },
    ],
  },
  bottleneck: 'Waiting for 4 of 8 workers: no node has a free GPU.',
  conflicts: 2,
});

const sample = {
  inputs: ['note'],
  rows: [
    { inputs: ['a mug, blue'], before: '4', after: '11', error: '' },
    { inputs: ['null'], before: 'null', after: 'null', error: '' },
  ],
};
const counted = (value: number) => ({ value, basis: 'counted' }) as const;

suite('The page of a job, in a browser', function () {
  this.timeout(60_000);
  let server: Served;
  let browser: Browser;

  suiteSetup(async () => {
    await mkdir(shots, { recursive: true });
    server = await servePanel('jobPage');
    browser = await launchChromium();
  });

  suiteTeardown(async () => {
    await browser?.close();
    server?.close();
  });

  /** Opens the page, runs the test on it, and fails if something threw or the policy refused a request. */
  async function withPage(
    { state, theme = 'dark', log = '' }: { state: JobPageState; theme?: ThemeName; log?: string },
    run: (page: Page, host: JobPageHostStandIn) => Promise<void>,
  ): Promise<void> {
    await inPanelPage(browser, { width: 1000, height: 900 }, async (page) => {
      const host = new JobPageHostStandIn(page, state);
      host.log = log;
      try {
        await page.exposeFunction('postToHost', (frame: unknown) => host.receive(frame));
        await dress(page, theme);
        await page.goto(server.url);
        await run(page, host);
      } finally {
        host.close();
      }
    });
  }

  for (const theme of ['dark', 'light', 'highContrast', 'highContrastLight'] as const) {
    test(`can be read in the theme ${theme}`, () =>
      withPage(
        { state: { kind: 'job', job: troubled }, theme, log: 'fragment 1: 25,000 rows\nfragment 2: 25,000 rows\n' },
        async (page) => {
          await page.locator('.job-log').waitFor();
          await page.screenshot({ path: join(shots, `job-${theme}.png`) });
          for (const text of await page.locator('.job-state span, .job dt, .job dd, .job-quiet, .job td').all()) {
            const [colour, ground] = await text.evaluate(colours);
            assert.ok(contrast(colour, ground) >= 4.5, `${colour} on ${ground}: ${await text.innerText()}`);
          }
        },
      ));
  }

  test('says to a screen reader how far the job is', () =>
    withPage({ state: { kind: 'job', job: running() } }, async (page) => {
      await bar(page).waitFor();
      assert.equal(await bar(page).getAttribute('aria-valuenow'), '42');
      assert.equal(await bar(page).getAttribute('aria-valuetext'), 'running, 42 %');
      assert.equal(await bar(page).getAttribute('aria-label'), 'Backfill of note_length');
    }));

  test('goes on to the end while it is looked at', () =>
    withPage({ state: { kind: 'job', job: running() } }, async (page, host) => {
      await page.getByRole('button', { name: 'Cancel' }).waitFor();
      await host.show(endedJob());
      await page.getByText('All 1,000,000 rows are computed.').waitFor();
      assert.equal(await bar(page).getAttribute('aria-valuenow'), '100');
      assert.equal(await page.getByRole('button', { name: 'Cancel' }).count(), 0);
      await page.screenshot({ path: join(shots, 'done.png') });
    }));

  test('does what its buttons say, by the keyboard too', () =>
    withPage({ state: { kind: 'job', job: running() } }, async (page, host) => {
      await page.getByRole('button', { name: 'Cancel' }).waitFor();
      await page.keyboard.press('Tab');
      await page.keyboard.press('Enter');
      await page.getByRole('button', { name: 'Open Table' }).click();
      await page.getByRole('button', { name: 'Copy as Code' }).click();
      await page.waitForFunction(() => true);
      assert.deepEqual(host.acted, ['cancel', 'table', 'code']);
    }));

  test('shows what a function said as text and as nothing else', () =>
    withPage({ state: { kind: 'job', job: troubled } }, async (page) => {
      await page.getByText('<img src=x onerror=alert(1)>').waitFor();
      assert.equal(await page.locator('img').count(), 0);
    }));

  test('keeps the end of a long log, and says that it does', () => {
    const log = Array.from({ length: 3000 }, (_, i) => `line ${i}\n`).join('');
    return withPage({ state: { kind: 'job', job: running() }, log }, async (page, host) => {
      await page.getByText('The last 1,000 lines.').waitFor();
      const box = page.locator('.job-log');
      assert.ok((await box.innerText()).trimEnd().endsWith('line 2999'));
      assert.doesNotMatch(await box.innerText(), /^line 1999$/m);
      host.log += 'one more\n';
      await page.waitForFunction(() => document.querySelector('.job-log')?.textContent?.includes('one more'));
    });
  });

  test('says why a job failed, and what to do', () => {
    const failure = {
      code: 'StorageFull',
      message: 'The disk of /data is full.',
      hint: 'Free 2 GB, then resume the job.',
    };
    const can = { cancel: false, resume: true, retry: false, remove: true };
    const job = running({ state: 'failed', sentence: failure.message, failure, endedAt: now, can });
    return withPage({ state: { kind: 'job', job } }, async (page, host) => {
      await page.getByRole('alert').getByText('Free 2 GB').waitFor();
      await page.screenshot({ path: join(shots, 'failed.png') });
      await page.getByRole('button', { name: 'Resume' }).click();
      assert.deepEqual(host.acted, ['resume']);
    });
  });

  for (const theme of ['dark', 'light', 'highContrast', 'highContrastLight'] as const) {
    test(`shows a plan with what was counted and what is an estimate, in the theme ${theme}`, () => {
      const table = someJob().table;
      const state = { kind: 'plan', table, plan: somePlan(), busy: undefined, problem: undefined, sample } as const;
      return withPage({ state, theme }, async (page, host) => {
        await page.getByRole('row', { name: 'a mug, blue 4 11' }).waitFor();
        await page.getByRole('row', { name: 'Rows to compute 750,000 of 1,000,000' }).waitFor();
        await page
          .getByRole('row', { name: /^Read about 48 MB \(estimate from the sizes of the data files\)$/ })
          .waitFor();
        await page.screenshot({ path: join(shots, `plan-${theme}.png`) });
        await page.getByRole('button', { name: 'Try One Fragment' }).click();
        await page.getByRole('button', { name: 'Run', exact: true }).click();
        assert.deepEqual(host.acted, ['try', 'run']);
      });
    });
  }

  test('can stop a trial, which may take as long as its function likes', () => {
    const state = { kind: 'plan', table: someJob().table, plan: somePlan(), busy: 'try', problem: undefined } as const;
    return withPage({ state }, async (page, host) => {
      await page.getByText('Computing one fragment').waitFor();
      await page.screenshot({ path: join(shots, 'plan-trying.png') });
      await page.getByRole('button', { name: 'Stop Trial' }).click();
      assert.deepEqual(host.acted, ['cancel']);
    });
  });

  test('shows no table of failed rows before the first one', () =>
    withPage({ state: { kind: 'job', job: running({ errors: { count: 2, samples: [] } }) } }, async (page) => {
      await page.getByText('errors are shown when their fragment is finished').waitFor();
      assert.equal(await page.getByRole('table').count(), 0);
    }));

  test('does nothing twice while a plan is being run', () => {
    const state = { kind: 'plan', table: someJob().table, plan: somePlan(), busy: 'run', problem: undefined } as const;
    return withPage({ state }, async (page) => {
      assert.ok(await page.getByRole('button', { name: 'Starting…' }).isDisabled());
      assert.ok(await page.getByRole('button', { name: 'Try One Fragment' }).isDisabled());
    });
  });

  for (const [what, total, toCompute, label] of [
    ['one fragment of several', 40, 750_000, 'Try One Fragment'],
    ['the whole table', 1, 500, 'Try the Whole Table'],
    ['the rows of one fragment that have no value', 1, 400, 'Try All Rows to Compute'],
    ['the first rows of a large fragment', 1, 750_000, 'Try the First 10,000 Rows'],
  ] as const)
    test(`says that a trial computes ${what}`, () => {
      const rows = { total: counted(Math.max(500, toCompute)), toCompute: counted(toCompute) };
      const plan = somePlan({
        rows: { ...rows, done: counted(0), reused: counted(0) },
        fragments: { total: counted(total), toCompute: counted(total), done: counted(0) },
      });
      const state = { kind: 'plan', table: someJob().table, plan, busy: undefined, problem: undefined } as const;
      return withPage({ state }, (page) => page.getByRole('button', { name: label, exact: true }).waitFor());
    });

  test('shows what a run computed, what it kept and what it writes, and stays in the phase until the end', () => {
    const job = running({
      phase: 'writing',
      sentence: 'Writing 1,000,000 rows to the table…',
      share: 0.44,
      written: 0,
      rows: { done: 1_000_000, total: 1_000_000, reused: 333_728 },
      rowsPerSecond: undefined,
      secondsLeft: undefined,
    });
    return withPage({ state: { kind: 'job', job } }, async (page) => {
      await page.getByText('writing', { exact: true }).waitFor();
      assert.equal(await bar(page).getAttribute('aria-valuenow'), '44');
      assert.equal(await page.getByText('left').count(), 0);
      await page.screenshot({ path: join(shots, 'writing.png') });
      // Nothing measures the step, so the bar moves without growing, and stands still where motion is not wanted.
      const done = page.locator('.job-bar-done');
      const motion = () => done.evaluate((element) => getComputedStyle(element).animationName);
      assert.equal(await motion(), 'job-shine');
      await page.emulateMedia({ reducedMotion: 'reduce' });
      assert.equal(await motion(), 'none');
      const facts = await page.locator('.job-facts').innerText();
      assert.match(facts, /Rows computed\s+666,272 of 666,272\s+Kept from an earlier run\s+333,728 rows/);
    });
  });

  test('has buttons that look like buttons in a theme that gives the secondary ones no background', () =>
    withPage({ state: { kind: 'job', job: running() }, theme: 'dark' }, async (page) => {
      const button = page.getByRole('button', { name: 'Copy as Code' });
      await button.waitFor();
      await page.evaluate(() =>
        document.documentElement.style.setProperty('--vscode-button-secondaryBackground', 'transparent'),
      );
      await page.screenshot({ path: join(shots, 'secondary.png') });
      const [border, ground] = await button.evaluate((element) => {
        const context = document.createElement('canvas').getContext('2d')!;
        const styles = getComputedStyle(document.documentElement);
        return [styles.getPropertyValue('--vscode-editor-background'), getComputedStyle(element).borderTopColor]
          .map((colour) => {
            context.fillStyle = colour;
            context.fillRect(0, 0, 1, 1);
            return `rgb(${context.getImageData(0, 0, 1, 1).data.slice(0, 3).join(', ')})`;
          })
          .toReversed();
      });
      assert.ok(contrast(border!, ground!) >= 3, `${border} on ${ground}`);
    }));

  test('has the facts of a finished job in one line, and fits a narrow window', () =>
    withPage({ state: { kind: 'job', job: endedJob() } }, async (page) => {
      const facts = page.locator('.job-facts > div');
      await facts.first().waitFor();
      const tops = await facts.evaluateAll((all) => all.map((one) => one.getBoundingClientRect().top));
      assert.deepEqual([tops.length, new Set(tops).size], [6, 1]);
      await page.setViewportSize({ width: 320, height: 900 });
      await page.screenshot({ path: join(shots, 'narrow.png') });
      assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= window.innerWidth));
    }));

  test('fits a narrow window with a plan', () => {
    const state = {
      kind: 'plan',
      table: someJob().table,
      plan: somePlan(),
      busy: undefined,
      problem: undefined,
      sample,
    } as const;
    return withPage({ state }, async (page) => {
      await page.getByRole('heading', { name: 'Sample' }).waitFor();
      await page.setViewportSize({ width: 320, height: 900 });
      await page.screenshot({ path: join(shots, 'plan-narrow.png'), fullPage: true });
      assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= window.innerWidth));
    });
  });
});

suite('The page of a webview while it loads', function () {
  this.timeout(60_000);
  let browser: Browser;
  suiteSetup(async () => {
    await mkdir(shots, { recursive: true });
    browser = await launchChromium();
  });
  suiteTeardown(() => browser?.close());

  for (const name of ['table', 'jobPage'] as const)
    for (const theme of ['light', 'dark', 'highContrast'] as const)
      test(`of ${name} is not blank before its script and stylesheet are there, in the theme ${theme}`, async () => {
        const server = await servePanel(name);
        try {
          await inPanelPage(browser, { width: 600, height: 400 }, async (page) => {
            // The files of the page never arrive.
            await page.route(/\.(js|css)$/, () => {});
            await dress(page, theme);
            await page.goto(server.url, { waitUntil: 'commit' });
            const skeleton = page.getByRole('status', { name: 'Loading' });
            await skeleton.waitFor();
            await page.evaluate(() => document.dispatchEvent(new Event('DOMContentLoaded', { bubbles: true })));
            await page.screenshot({ path: join(shots, `loading-${name}-${theme}.png`), timeout: 10_000 });
            const line = skeleton.locator('i').first();
            const { width, height } = (await line.boundingBox())!;
            assert.ok(width > 100 && height > 10);
            const drawn = await line.evaluate((element) => getComputedStyle(element).backgroundColor);
            assert.doesNotMatch(drawn, /^rgba\(0, 0, 0, 0\)$|^transparent$/);
          });
        } finally {
          server.close();
        }
      });

  test('shows the skeleton until there is something to draw', async () => {
    const server = await servePanel('jobPage');
    try {
      await inPanelPage(browser, { width: 600, height: 400 }, async (page) => {
        const host = new JobPageHostStandIn(page, { kind: 'job', job: running() });
        const frames: unknown[] = [];
        await page.exposeFunction('postToHost', (frame: unknown) => void frames.push(frame));
        await dress(page, 'dark');
        await page.goto(server.url);
        await eventually(() => assert.ok(frames.length > 0));
        const skeleton = page.locator('.skeleton');
        assert.ok(await skeleton.isVisible());
        for (const frame of frames) host.receive(frame);
        await bar(page).waitFor();
        assert.ok(!(await skeleton.isVisible()));
        host.close();
      });
    } finally {
      server.close();
    }
  });
});
