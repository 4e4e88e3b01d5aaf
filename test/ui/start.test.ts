import assert from 'node:assert/strict';
import { spawn, type ChildProcess } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { request } from 'node:http';
import { inRoot } from '../../scripts/paths.ts';
import { endGroup, trackProcessGroup } from '../../scripts/processes.ts';
import { openBrowser } from '../harness/browser.ts';
import { tempFolder } from '../harness/temp.ts';
import { treeRow } from './parts/catalogWindow.ts';
import { isRunning } from '../harness/running.ts';

suite('npm start in the browser', function () {
  this.timeout(120_000);
  let start: ChildProcess;
  let port = 0;
  let password = '';
  let output = '';
  let env: NodeJS.ProcessEnv;

  suiteSetup(async () => {
    env = { ...process.env, LANCE_CATALOG_WINDOW: tempFolder('lance-start-') };
    begin();
    await untilAddress();
    port = Number(/http:\/\/127\.0\.0\.1:(\d+)/.exec(output)?.[1]);
    password = passwordIn(output);
  });

  /** Starts the command as a user would, in a separate process group as a terminal does. */
  function begin(): void {
    output = '';
    start = spawn(process.execPath, [inRoot('scripts/boot.mjs'), 'start', '--browser'], {
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
      env,
    });
    trackProcessGroup(start);
    for (const stream of [start.stdout, start.stderr])
      stream?.setEncoding('utf8').on('data', (text: string) => (output += text));
  }

  const untilAddress = () =>
    until('it prints address and password', () => /http:\/\/127\.0\.0\.1:\d+[\s\S]*password\s+\S+\n/.test(output));

  async function pressCtrlC(): Promise<void> {
    process.kill(-(start.pid ?? 0), 'SIGINT');
    await until('it ends', () => start.exitCode !== null);
    assert.equal(start.exitCode, 130);
  }

  suiteTeardown(() => endGroup(start));

  test('gives a page that reached it by another name no workbench', async () => {
    for (const path of [
      '/',
      '/?folder=/',
      '/stable/static/out/vs/code/browser/workbench/workbench.js',
      '/vscode-remote-resource?path=/etc/hostname',
    ]) {
      const { status, body } = await get(path, { host: 'rebound.example' });
      assert.ok(status === 302 || status === 401 || status === 403 || status === 404, `${path} answers ${status}`);
      assert.doesNotMatch(body, /workbench-config|monaco/i);
    }
  });

  test('wants a long password', async () => {
    assert.ok(password.length >= 20);
    const { status, headers } = await get('/', {});
    assert.equal(status, 302);
    assert.match(String(headers['location']), /login/);
  });

  test('refuses a second start beside it with one sentence', async () => {
    const second = spawn(process.execPath, [inRoot('scripts/boot.mjs'), 'start', '--browser'], {
      stdio: ['ignore', 'ignore', 'pipe'],
      env,
    });
    let message = '';
    second.stderr.setEncoding('utf8').on('data', (text: string) => (message += text));
    const code = await new Promise((resolve) => second.once('close', resolve));
    assert.equal(code, 1);
    assert.match(message, /already open \(process \d+\)/);
  });

  test('opens on the catalog and the tour', async () => {
    const browser = await openBrowser(tempFolder('lance-start-'));
    try {
      const { page } = browser;
      await page.goto(`http://127.0.0.1:${port}`);
      await page.locator('input[type=password]').fill(password);
      await page.keyboard.press('Enter');
      await treeRow(page, 'Namespace shop').waitFor({ timeout: 90_000 });
      await page.locator('.notebook-editor .code-cell-row').first().waitFor({ timeout: 90_000 });
    } finally {
      await browser.page.screenshot({ path: inRoot('test-results/ui/start.png') });
      await browser.close();
    }
  }).timeout(200_000);

  test('leaves no process behind after Ctrl-C', async () => {
    const server = serverOf(start.pid ?? 0);
    assert.ok(server > 0, 'the server is found by its parent');
    await pressCtrlC();
    // Wait, because an ended process stays listed until its new parent has reaped it.
    await until('its server is gone', () => !isRunning(-server));
  });

  test('is there again at the same address and behind another password', async () => {
    begin();
    await untilAddress();
    assert.notEqual(passwordIn(output), password);
    assert.match(output, new RegExp(`http://127\\.0\\.0\\.1:${port}\\s`));
    await pressCtrlC();
  });

  test('leaves no process behind after a Ctrl-C while it starts', async () => {
    // End the process of a failed attempt, because it would make the next start fail.
    await endGroup(start);
    begin();
    let server = 0;
    await until('the server is started', () => (server = serverOf(start.pid ?? 0)) > 0);
    assert.doesNotMatch(output, /password/, 'it is still starting');
    await pressCtrlC();
    await until('its server is gone', () => !isRunning(-server));
  });

  async function until(what: string, isDone: () => boolean): Promise<void> {
    const deadline = Date.now() + 90_000;
    while (!isDone()) {
      assert.ok(Date.now() < deadline, `${what} within 90 s; so far it printed: ${output}`);
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  }

  function get(
    path: string,
    headers: Record<string, string>,
  ): Promise<{ status: number; headers: NodeJS.Dict<string | string[]>; body: string }> {
    return new Promise((resolve, reject) => {
      request({ host: '127.0.0.1', port, path, headers }, (response) => {
        let body = '';
        response.setEncoding('utf8').on('data', (text: string) => (body += text));
        response.on('end', () => resolve({ status: response.statusCode ?? 0, headers: response.headers, body }));
      })
        .on('error', reject)
        .end();
    });
  }
});

const passwordIn = (text: string): string => /password\s+(\S+)/.exec(text)?.[1] ?? '';

/** Returns the server, the child of the start command that leads a process group, or 0 when there is none (yet). */
function serverOf(start: number): number {
  // Read only the children of this process. On a busy machine, a walk through all processes takes longer than the start
  // of the server.
  const children = readFileSync(`/proc/${start}/task/${start}/children`, 'utf8').split(' ').filter(Boolean).map(Number);
  return children.find((child) => isRunning(-child)) ?? 0;
}
