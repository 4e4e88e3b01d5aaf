import { readdirSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import * as vscode from 'vscode';
import { describe, fileEmitter, runFiles } from './reporter.ts';

/** Milliseconds per test: ten times the longest, because a shared machine pauses now and then. */
const timeout = 120_000;

/** The slowest files. They start first, so that at the end no window runs a slow file while the others are idle. */
const longest = ['debug', 'notebook', 'kernels', 'jobs', 'jobFiles', 'language'];

/**
 * Entry in the extension host, called by VS Code (`extensionTestsPath`). First opens a webview, because the first
 * webview of a session installs a service worker. This takes some seconds and would slow down a test. Then runs the
 * files that no other window has taken.
 */
export async function run(): Promise<void> {
  const [results, taken] = [process.env['LANCE_TEST_RESULTS'], process.env['LANCE_TEST_TAKEN']];
  if (!results || !taken)
    throw new Error('LANCE_TEST_RESULTS names no file: start the host tests with test/harness/runInHost.ts.');
  const emit = fileEmitter(results);
  emit({ event: 'begin', node: process.version, pid: process.pid, vscode: vscode.version });
  await warmUp();
  const names = readdirSync(import.meta.dirname, { recursive: true, encoding: 'utf8' }).filter((name) =>
    name.endsWith('.test.cjs'),
  );
  let failures = 0;
  for (const name of names.toSorted((a, b) => rank(a) - rank(b) || (a < b ? -1 : 1))) {
    if (!take(join(taken, name.replaceAll(/[/\\]/g, '_')))) continue;
    const file = join(import.meta.dirname, name);
    try {
      failures += await runFiles({ files: [file], emit, grep: process.env['LANCE_TEST_GREP'], timeout });
    } catch (error) {
      emit({ event: 'error', error: `${name} could not be loaded: ${describe(error)}` });
      throw error;
    }
  }
  emit({ event: 'end', failures });
  if (failures > 0) throw new Error(`${failures} tests failed`);
}

function rank(name: string): number {
  const index = longest.findIndex((one) => basename(name) === `${one}.test.cjs`);
  return index < 0 ? longest.length : index;
}

/** Marks a file as taken by this window. @returns whether it was free */
function take(mark: string): boolean {
  try {
    writeFileSync(mark, '', { flag: 'wx' });
    return true;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return false;
    throw error;
  }
}

async function warmUp(): Promise<void> {
  const panel = vscode.window.createWebviewPanel('warm-up', 'Warm-up', vscode.ViewColumn.One, { enableScripts: true });
  const ready = new Promise<void>((resolve) => panel.webview.onDidReceiveMessage(() => resolve()));
  panel.webview.html = '<script>acquireVsCodeApi().postMessage(1)</script>';
  await Promise.race([ready, new Promise((resolve) => setTimeout(resolve, 60_000))]);
  panel.dispose();
}
