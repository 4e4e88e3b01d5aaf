import assert from 'node:assert/strict';
import { build } from 'esbuild';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { bundleOptions, bundles } from '../../../scripts/bundles.ts';
import type { Size } from '../../harness/browser.ts';
import { tempFolder } from '../../harness/temp.ts';
import { themes, type ThemeName } from './themes.ts';

export type Served = { readonly url: string; close(): void };

/** The response at a path: its type and its body. */
export type Answer = { readonly type: string; readonly body: string | Uint8Array; readonly policy?: string };

/** Builds bundles for a browser. @returns the folder with the results */
export async function buildPart(...wanted: readonly string[]): Promise<string> {
  const folder = tempFolder();
  for (const output of wanted) {
    const bundle = bundles.find(({ outputs }) => outputs[0] === output);
    assert.ok(bundle, `${output} is built`);
    await build({ ...bundleOptions(bundle), outfile: join(folder, output) });
  }
  return folder;
}

/** Starts a server of pages on this machine; `answer` gets the requested path and the origin of the page. */
export async function servePages(answer: (path: string, origin: string) => Answer): Promise<Served> {
  const server = createServer((request, response) => {
    const { type, body, policy } = answer(request.url ?? '', `http://${request.headers.host ?? ''}`);
    if (policy !== undefined) response.setHeader('Content-Security-Policy', policy);
    response.setHeader('Content-Type', type);
    response.end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}/`, close: () => server.close() };
}

/** Serves a renderer of outputs as `/renderer.js`, and the notebook page in which it draws. */
export async function serveRenderer(output: string, page: string): Promise<Served> {
  const folder = await buildPart(output, 'gridDetail.js', 'gridGallery.js', 'gridColumns.js');
  const files: Record<string, string> = {
    '/renderer.js': output,
    '/gridDetail.js': 'gridDetail.js',
    '/gridGallery.js': 'gridGallery.js',
    '/gridColumns.js': 'gridColumns.js',
  };
  return servePages((path) => {
    const file = files[path];
    if (file === undefined) return { type: 'text/html', body: page };
    return { type: 'text/javascript', body: readFileSync(join(folder, file)) };
  });
}

/** Runs a test in a new page, and fails if an error was not caught there. */
export async function inPage(browser: Browser, viewport: Size, run: (page: Page) => Promise<void>): Promise<void> {
  const context = await browser.newContext({ viewport });
  const page = await context.newPage();
  const errors: string[] = [];
  page.on('pageerror', (error) => errors.push(String(error)));
  try {
    await run(page);
    assert.deepEqual(errors, []);
  } finally {
    await context.close();
  }
}

/** Returns the variables of a theme as in the page of a notebook, with the font of its outputs. */
export const outputTheme = (theme: ThemeName): Record<string, string> => ({
  ...themes[theme],
  '--vscode-font-family': 'system-ui',
  '--vscode-font-size': '13px',
});
