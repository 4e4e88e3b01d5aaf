import assert from 'node:assert/strict';
import { build } from 'esbuild';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { bundleOptions, bundles } from '../../scripts/bundles.ts';
import type { Size } from '../harness/browser.ts';
import { tempFolder } from '../harness/temp.ts';
import { themes, type ThemeName } from './themes.ts';

export type Served = { readonly url: string; close(): void };

/** What is answered at a path: its kind and its text. */
export type Answer = { readonly type: string; readonly body: string | Uint8Array; readonly policy?: string };

/** Builds one of the parts that run in a browser. @returns the folder of what came of it */
export async function buildPart(output: string): Promise<string> {
  const bundle = bundles.find(({ outputs }) => outputs[0] === output);
  assert.ok(bundle, `${output} is built`);
  const folder = tempFolder();
  await build({ ...bundleOptions(bundle), outfile: join(folder, output) });
  return folder;
}

/** A server of pages on this machine; `answer` is given the path that is asked for, and the origin of the page. */
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

/** Serves a renderer of outputs as `/renderer.js`, and the page of a notebook in which it is to draw. */
export async function serveRenderer(output: string, page: string): Promise<Served> {
  const script = join(await buildPart(output), output);
  return servePages((path) =>
    path === '/renderer.js'
      ? { type: 'text/javascript', body: readFileSync(script) }
      : { type: 'text/html', body: page },
  );
}

/** Runs in a page of its own, and expects that nothing was thrown there that nobody caught. */
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

/** The variables of a theme as the page of a notebook has them, with the letters of its outputs. */
export const outputTheme = (theme: ThemeName): Record<string, string> => ({
  ...themes[theme],
  '--vscode-font-family': 'system-ui',
  '--vscode-font-size': '13px',
});
