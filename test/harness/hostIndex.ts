import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import * as vscode from 'vscode';
import { fileEmitter, runMocha } from './reporter.ts';

/**
 * Entry inside the extension host; VS Code calls it (`extensionTestsPath`). Its first act is one webview: the first of a
 * session installs a service worker, which takes seconds that would otherwise fall on whichever test comes first.
 */
export async function run(): Promise<void> {
  const results = process.env['LANCE_TEST_RESULTS'];
  if (!results)
    throw new Error('LANCE_TEST_RESULTS names no file: start the host tests with test/harness/runInHost.ts.');
  await warmUp();
  const files = readdirSync(import.meta.dirname).filter((name) => name.endsWith('.test.cjs'));
  const failures = await runMocha({
    files: files.toSorted().map((name) => join(import.meta.dirname, name)),
    emit: fileEmitter(results),
    grep: process.env['LANCE_TEST_GREP'],
    timeout: 60_000,
    vscode: vscode.version,
  });
  if (failures > 0) throw new Error(`${failures} tests failed`);
}

async function warmUp(): Promise<void> {
  const panel = vscode.window.createWebviewPanel('warm-up', 'Warm-up', vscode.ViewColumn.One, { enableScripts: true });
  const ready = new Promise<void>((resolve) => panel.webview.onDidReceiveMessage(() => resolve()));
  panel.webview.html = '<script>acquireVsCodeApi().postMessage(1)</script>';
  await Promise.race([ready, new Promise((resolve) => setTimeout(resolve, 60_000))]);
  panel.dispose();
}
