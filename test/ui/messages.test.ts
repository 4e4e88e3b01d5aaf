import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Locator, Page } from 'playwright-core';
import { openWindow, shoot, type Window } from '../harness/window.ts';
import { chooseInMenu, openCatalog, openMenu, treeRow } from './parts/catalogWindow.ts';

/** The attacker's text. VS Code would make a link of it that opens a terminal. */
const bait = 'No rights. [Sign in](command:workbench.action.terminal.new)';

/**
 * Stands in for an attacker's server, because no real server is hostile. It has one namespace, and its errors contain
 * the bait.
 */
async function startHostileServerStandIn(): Promise<Server> {
  const server = createServer(({ url = '' }, response) => {
    const isTop = /\/(list|v1\/tables)(\?|$)/.test(url) && !url.includes('trap');
    const body = isTop ? { namespaces: ['trap'], tables: [] } : { error: bait, code: 13 };
    response.writeHead(isTop ? 200 : 400, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return server;
}

/** Types into one step of adding a connection. */
async function answer(page: Page, prompt: string, text: string): Promise<void> {
  const box = page.locator('.quick-input-widget', { hasText: prompt });
  await box.waitFor({ timeout: 60_000 });
  await box.locator('input.input').fill(text);
  await page.keyboard.press('Enter');
}

/** Checks that the bait is shown as plain text. */
async function hasBaitAsText(shown: Locator): Promise<void> {
  await shown.getByText('Sign in').waitFor({ timeout: 60_000 });
  assert.ok((await shown.innerText()).replaceAll('\u2060', '').includes(bait), await shown.innerText());
  assert.equal(await shown.locator('a', { hasText: 'Sign in' }).count(), 0, 'it is no link');
}

suite('A window that a hostile server talks to', function () {
  this.timeout(240_000);
  let window: Window;
  let server: Server;

  suiteSetup(async () => {
    server = await startHostileServerStandIn();
    window = await openWindow({ 'lanceCatalog.defaultConnections': [] });
    const { page } = window;
    await openCatalog(page);
    await page.locator('.welcome-view a, .welcome-view .monaco-button', { hasText: 'Add REST Connection' }).click();
    await page.locator('.quick-input-widget', { hasText: 'The address of the catalog server' }).waitFor();
    const { port } = server.address() as AddressInfo;
    await answer(page, 'The address of the catalog server', `http://127.0.0.1:${port}`);
    await answer(page, 'API key, kept in the secret storage', '');
    await answer(page, 'Database, if the server has several', '');
    await answer(page, 'Header to send with every request', '');
    await answer(page, 'Name of the connection to', 'evil');
    await treeRow(page, 'Connection evil').waitFor();
  });

  suiteTeardown(async () => {
    await window?.close();
    server?.closeAllConnections();
    server?.close();
  });

  teardown(async function () {
    if (this.currentTest?.state === 'failed')
      await shoot(window, `failed-messages-${this.currentTest.title.replaceAll(/\W+/g, '-')}`);
  });

  test('draws its error without a link below an input box', async () => {
    const { page } = window;
    await openMenu(page, treeRow(page, 'Connection evil'), 'New Namespace');
    await chooseInMenu(page, 'New Namespace');
    await answer(page, 'A name for the new namespace', 'other');
    await hasBaitAsText(page.locator('.quick-input-widget .quick-input-message'));
    await shoot(window, 'messages-input-box');
    await page.keyboard.press('Escape');
  });

  test('draws its error without a link in a notification', async () => {
    const { page } = window;
    const row = treeRow(page, 'Connection evil');
    if ((await row.getAttribute('aria-expanded')) === 'false') await row.locator('.monaco-tl-twistie').click();
    await openMenu(page, treeRow(page, 'Namespace trap'), 'Drop Namespace');
    await chooseInMenu(page, 'Drop Namespace');
    await hasBaitAsText(page.locator('.notification-toast').first());
    await shoot(window, 'messages-notification');
  });
});
