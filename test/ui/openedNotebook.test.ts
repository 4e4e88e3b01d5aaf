import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Frame } from 'playwright-core';
import { notebookRenderer } from '../../extension/contributions/notebooks.ts';
import { openWindow, shoot, type Window } from '../harness/window.ts';
import { frameWith } from '../harness/workbench.ts';
import { hostileOutputs, innocentOutputs, notebookWithOutputs } from './parts/hostileOutputs.ts';
import { openNotebook } from './parts/notebookWindow.ts';

/** Milliseconds within which a drawn output would have sent a request. */
const requestMs = 3_000;

suite('A saved notebook that is opened in Restricted Mode', function () {
  this.timeout(120_000);
  let window: Window;
  let outputs: Frame;
  let victim: string;
  let server: Server;
  /** First lines of requests that arrived, and `TLS` for a connection by https. */
  const arrived: string[] = [];
  /** Addresses of requests in the browser's log, sent or not. */
  const requested: string[] = [];

  suiteSetup(async function () {
    this.timeout(420_000);
    server = createServer((socket) => {
      socket.on('error', () => {});
      socket.once('data', (bytes) => {
        arrived.push(bytes[0] === 0x16 ? 'TLS' : (bytes.toString('latin1').split('\r\n')[0] ?? ''));
        socket.end('HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n');
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    victim = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const hostile = hostileOutputs(victim);
    assert.deepEqual(
      new Set(hostile.map(({ mime }) => mime)),
      new Set(notebookRenderer.flatMap(({ mimeTypes }) => mimeTypes)),
      'every type that our renderers draw',
    );
    // Open a tall window, because outputs are drawn only while they are visible.
    window = await openWindow(
      {
        'security.workspace.trust.enabled': true,
        'security.workspace.trust.startupPrompt': 'never',
        'notebook.showCellStatusBar': 'hidden',
      },
      { width: 1400, height: 6000 },
    );
    window.browser.context.on('request', (request) => requested.push(request.url()));
    writeFileSync(join(window.folder, '.env'), 'NAME\nSECRET=saved-beside-the-notebook\n');
    writeFileSync(join(window.folder, 'saved.ipynb'), notebookWithOutputs([...hostile, ...innocentOutputs]));
    await openNotebook(window.page, 'saved.ipynb');
    outputs = await frameWith(window.page, '.js-plotly-plot :text("figure")', 150_000);
    await outputs.locator('.lance-output').waitFor();
    await outputs.locator('.job-output').waitFor();
    await sleep(requestMs);
    await shoot(window, 'opened-notebook');
  });

  suiteTeardown(async () => {
    await window?.close();
    server?.close();
  });

  const addresses = (): string[] =>
    requested.filter((url) => url.includes(new URL(victim).host) || url.includes('/.env') || url.includes('plot.ly'));

  test('is not trusted, and all its outputs are drawn', async () => {
    assert.equal(await window.page.locator('.statusbar-item', { hasText: 'Restricted Mode' }).count(), 1);
    const { length } = [...hostileOutputs(victim), ...innocentOutputs];
    assert.equal(await outputs.locator('.output_container').count(), length);
  });

  test('shows a tooltip as text', async () => {
    await outputs.locator('.mark-rect path[aria-label="tip"]').hover();
    const tooltip = outputs.locator('#vg-tooltip-element.visible');
    await tooltip.waitFor();
    assert.equal(await tooltip.innerHTML(), '<h2>tip &lt;b&gt;</h2>');
    await sleep(500);
  });

  test('sends nothing and reads no file', () => {
    assert.deepEqual(arrived, []);
    assert.deepEqual(addresses(), []);
    assert.deepEqual([...window.browser.blocked], []);
  });

  test('shows what was not loaded, as text', async () => {
    const notices = await outputs.locator('.lance-chart-notice').allInnerTexts();
    const told = notices.join('\n');
    for (const name of [
      '/vega.v6.json',
      '/vega-image.png',
      '/plotly-image.png',
      '/geo.json',
      'tiles of',
      'outlines of',
    ])
      assert.ok(told.includes(name), name);
    assert.match(told, /^1 address was not loaded: \.env\./m);
  });

  test('draws the charts that carry their data', async () => {
    assert.equal(await outputs.locator('.vega-embed .mark-rect path[aria-label*="kind"]').count(), 2);
    assert.equal(await outputs.locator('.vega-embed image[*|href^="data:image/png"]').count(), 1);
    assert.equal(await outputs.locator('.js-plotly-plot .bars .point path').count(), 2);
    assert.equal(await outputs.locator('.js-plotly-plot image[*|href^="data:image/png"]').count(), 1);
    assert.equal(await outputs.locator('.js-plotly-plot .xtick text', { hasText: /^<5$/ }).count(), 1);
    assert.equal(
      await outputs.locator('.js-plotly-plot tspan[style*="fill: teal"], tspan[style*="fill:teal"]').count(),
      1,
    );
  });

  test('opens a link by VS Code, which asks first', async () => {
    const page = outputs.url();
    await outputs.locator('.vega-embed .mark-rect path[aria-label*="kind"]').first().click();
    const dialog = window.page.locator('.monaco-dialog-box', { hasText: 'https://example.org/chart' });
    await dialog.waitFor();
    await dialog.locator('.monaco-button', { hasText: 'Cancel' }).click();
    await dialog.waitFor({ state: 'hidden' });
    assert.equal(outputs.url(), page);
    assert.equal(await outputs.locator('a[*|href*="example.org"]').count(), 0);
  });

  test('a request of the same page would have been seen', async () => {
    await outputs.evaluate((url) => {
      new Image().src = url;
    }, `${victim}/control.png`);
    await outputs.evaluate((url) => fetch(url).catch(() => {}), `${victim.replace('http:', 'https:')}/control`);
    await outputs.evaluate(() => fetch('.env').catch(() => {}));
    for (let tries = 0; tries < 50 && (!arrived.includes('TLS') || addresses().length < 3); tries++) await sleep(100);
    assert.ok(arrived.includes('GET /control.png HTTP/1.1'), arrived.join());
    assert.ok(arrived.includes('TLS'), arrived.join());
    assert.ok(
      addresses().some((url) => url.endsWith('/.env')),
      addresses().join(),
    );
  });
});
