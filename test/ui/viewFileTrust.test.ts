import assert from 'node:assert/strict';
import { cpSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Frame } from 'playwright-core';
import { inRoot } from '../../scripts/paths.ts';
import { type ServeProcess, startServe } from '../contract/serve/serveProcess.ts';
import { tempFolder } from '../harness/temp.ts';
import { openWindow, shoot, type Window } from '../harness/window.ts';
import { frameWith } from '../harness/workbench.ts';
import { openFile } from './parts/catalogWindow.ts';

const patience = 90_000;
const rows = (frame: Frame, count: number) =>
  frame.locator('.lance-toolbar-count', { hasText: new RegExp(`^${count} of `) }).waitFor({ timeout: patience });

// All tests use one window, in order. Each test continues where the previous test ended, as a user does.
suite('View files of a server in a workspace that is not trusted', function () {
  this.timeout(180_000);
  let window: Window;
  let server: ServeProcess;

  suiteSetup(async () => {
    const root = join(tempFolder('lance-view-trust-'), 'catalog');
    cpSync(inRoot('.sample/tests'), root, { recursive: true });
    server = await startServe(['--root', root, '--no-auth']);
    window = await openWindow({
      'security.workspace.trust.enabled': true,
      'security.workspace.trust.startupPrompt': 'never',
      'lanceCatalog.defaultConnections': [{ name: 'team', uri: server.address }],
    });
    for (const [name, where] of [
      ['first', 'id <= 7'],
      ['second', 'id <= 9'],
    ] as const)
      writeFileSync(
        join(window.folder, `${name}.lance-view.json`),
        JSON.stringify({
          lanceView: 1,
          connection: { kind: 'rest', uri: server.address },
          table: 'shop/products',
          where,
        }),
      );
  });

  suiteTeardown(async () => {
    await window?.close();
    await server?.stop();
  });

  teardown(async function () {
    if (this.currentTest?.state === 'failed')
      await shoot(window, `failed-view-trust-${this.currentTest.title.replaceAll(/\W+/g, '-')}`);
  });

  /** Returns the operations of the requests that the server had, without those of the test. */
  async function requests(): Promise<unknown[]> {
    // The line of this request is in the log, so those of earlier ones are there, too.
    const marker = `marker-${Math.random().toString(36).slice(2)}`;
    await server.send({ method: 'POST', path: `/v1/table/${marker}/exists` });
    await server.logged('request', ({ identifier }) => String(identifier).includes(marker));
    return server
      .log()
      .filter(({ event, identifier }) => event === 'request' && !String(identifier).includes('marker-'))
      .map(({ operation }) => operation);
  }

  const review = (): Promise<Frame> => frameWith(window.page, '.lance-review');
  /** Waits for a text of the review. The page is replaced when the workspace becomes trusted. */
  async function reviewWith(text: string): Promise<Frame> {
    for (let tries = 0; tries < 5; tries++) {
      const frame = await review();
      const isShown = await frame
        .getByText(text)
        .waitFor({ timeout: 10_000 })
        .then(() => true)
        .catch(() => false);
      if (isShown) return frame;
    }
    throw new Error(`The review does not say "${text}".`);
  }
  const tab = (name: string) => window.page.locator('.tabs-container .tab', { hasText: name });

  test('show what they name, and send nothing', async () => {
    const { page } = window;
    await page.locator('.statusbar-item', { hasText: 'Restricted Mode' }).waitFor();
    await openFile(page, 'first.lance-view.json');
    const frame = await review();
    await frame.getByText('This workspace is not trusted, so nothing of the file runs.').waitFor();
    await frame.getByRole('region', { name: 'SQL' }).getByText('where id <= 7').waitFor();
    assert.equal(await frame.getByRole('button', { name: 'Show Rows' }).count(), 0);
    await shoot(window, 'view-file-restricted');
    assert.deepEqual(await requests(), []);
  });

  test('send nothing after the workspace is trusted, until the user shows their rows', async () => {
    const { page } = window;
    await (await review()).getByRole('button', { name: 'Manage Workspace Trust' }).click();
    const trust = page.locator('.workspace-trust-editor .workspace-trust-buttons-row .monaco-button', {
      hasText: 'Trust',
    });
    await trust.first().click();
    await page.locator('.statusbar-item', { hasText: 'Restricted Mode' }).waitFor({ state: 'detached' });
    // VS Code shows the page of trust above the other editors. It takes keys only once it has drawn the new state.
    const above = page.locator('.monaco-modal-editor-block');
    for (let tries = 0; (await above.count()) > 0 && tries < 20; tries++) {
      await above
        .getByRole('heading', { name: 'You trust this folder' })
        .or(above.locator('.workspace-trust-title'))
        .first()
        .click({ timeout: 3_000 })
        .catch(() => undefined);
      await page.keyboard.press('Escape');
      await page.waitForTimeout(300);
    }
    const frame = await reviewWith('Nothing of this file has run yet.');
    assert.deepEqual(await requests(), []);
    await frame.getByRole('button', { name: 'Show Rows', exact: true }).click();
    await rows(await frameWith(page, '.lance-grid'), 7);
    assert.ok((await requests()).some((operation) => operation === 'QueryTable'));
  });

  test('of one table are two tabs with the names of the files, and the panels say the table', async () => {
    const { page } = window;
    await tab('first.lance-view.json').waitFor();
    const shown = await frameWith(page, '.lance-grid');
    await shown.locator('.lance-footer', { hasText: 'shop/products (team) · ' }).waitFor();
    await shoot(window, 'view-file-tab');
    await openFile(page, 'second.lance-view.json');
    await (await review()).getByRole('button', { name: 'Show Rows', exact: true }).click();
    await tab('second.lance-view.json').waitFor();
    await page.locator('.tab.active', { hasText: 'second.lance-view.json' }).waitFor();
    await tab('first.lance-view.json').click();
    await rows(await frameWith(page, '.lance-grid'), 7);
    await shoot(window, 'view-file-tabs');
    assert.equal(await page.locator('.tab', { hasText: 'lance-view.json' }).count(), 2);
  });
});
