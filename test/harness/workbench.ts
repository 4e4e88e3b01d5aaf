import assert from 'node:assert/strict';
import type { Frame, Page } from 'playwright-core';
import { cpSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { findWorkbench, type Workbench } from '../../scripts/workbench/install.ts';
import type { Profile, Server } from '../../scripts/workbench/server.ts';

/** Returns the installed workbench. @throws if `npm test` has not installed it yet */
export function installedWorkbench(): Workbench {
  const found = findWorkbench();
  if (!found) throw new Error('The browser workbench is not installed: run "npm test -- host", which installs it.');
  return found;
}

/**
 * A variable that keeps the server from reading its environment from a login shell. The PATH of that shell may lack the
 * Node.js of the tests. Kernels would then use the editor's own Node.js and start without a snapshot.
 */
export const withoutShell = { VSCODE_CLI: '1' };

/** Copies an unpacked extension into a profile that no server uses yet. */
export function addExtension(profile: Profile, folder: string): void {
  const manifest: unknown = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  const field = (name: string): string => {
    const value =
      typeof manifest === 'object' && manifest !== null
        ? Object.entries(manifest).find(([key]) => key === name)?.[1]
        : undefined;
    if (typeof value !== 'string') throw new Error(`${folder}/package.json has no ${name}.`);
    return value;
  };
  const target = `${field('publisher')}.${field('name')}-${field('version')}`;
  cpSync(folder, join(profile.extensions, target), { recursive: true });
}

/** Returns the workbench's URI of a path on this machine. */
export function remoteUri(server: Server, path: string): string {
  return `vscode-remote://127.0.0.1:${server.port}${resolve(path)}`;
}

/** Logs in and waits until the workbench is ready. */
export async function openWorkbench(
  page: Page,
  server: Server,
  options: { folder?: string; payload?: readonly (readonly [string, string])[] } = {},
): Promise<void> {
  const query = new URLSearchParams(options.folder === undefined ? { ew: 'true' } : { folder: options.folder });
  if (options.payload) query.set('payload', JSON.stringify(options.payload));
  // The login page would load the workbench, which is then loaded again with the folder. So this sends only its form.
  const login = await page.request.post(`${server.address}/login`, {
    form: { password: server.password },
    maxRedirects: 0,
    timeout: 30_000,
  });
  assert.equal(login.status(), 302, 'the workbench takes the password');
  await page.goto(`${server.address}/?${query}`, { timeout: 60_000, waitUntil: 'domcontentloaded' });
  await page.locator('.monaco-workbench .part.statusbar .statusbar-item').first().waitFor({ timeout: 90_000 });
}

/**
 * Runs a command in the palette by its full title, such as "Lance Catalog: Refresh". Tries again if the palette closes,
 * because a webview that finishes loading takes the focus.
 */
export async function runCommand(page: Page, title: string): Promise<void> {
  const input = page.locator('.quick-input-widget input.input');
  const row = page.locator('.quick-input-list .monaco-list-row', { hasText: title }).first();
  for (let attempt = 1; ; attempt++) {
    try {
      await page.keyboard.press('F1');
      await input.fill(`>${title}`, { timeout: 5_000 });
      await row.click({ timeout: 10_000 });
      return;
    } catch (error) {
      if (attempt === 5) throw error;
      await page.keyboard.press('Escape');
    }
  }
}

/**
 * Reloads the window and waits for its new page. The command writes the state of panels first, which a reload of the page
 * does not.
 */
export async function reloadWindow(page: Page): Promise<void> {
  const isLoaded = page.waitForEvent('domcontentloaded', { timeout: 60_000 });
  await runCommand(page, 'Developer: Reload Window');
  await isLoaded;
}

/** Returns the innermost frame (webview panel or notebook output) that contains `selector`. */
export async function frameWith(page: Page, selector: string, timeout = 60_000): Promise<Frame> {
  const deadline = Date.now() + timeout;
  for (;;) {
    for (const frame of page.frames()) {
      if (frame === page.mainFrame()) continue;
      const visible = await frame
        .locator(selector)
        .first()
        .isVisible()
        .catch(() => false); // the frame may be removed meanwhile
      if (visible) return frame;
    }
    if (Date.now() > deadline) {
      const frames = page.frames().map((frame) => frame.url().slice(0, 80));
      throw new Error(`No webview shows ${selector} after ${timeout / 1000} s. Frames: ${frames.join(', ')}`);
    }
    await sleep(100);
  }
}
