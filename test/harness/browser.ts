import { chromium, type Browser as Chromium, type BrowserContext, type Page } from 'playwright-core';
import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { tempFolder } from './temp.ts';

export type Browser = {
  readonly page: Page;
  readonly context: BrowserContext;
  /** The folder of its profile. */
  readonly folder: string;
  readonly consoleLines: string[];
  /** The requests to other machines. The browser blocks all of them. */
  readonly blocked: Set<string>;
  readonly close: () => Promise<void>;
};

/**
 * Where Chromium is installed. The headless shell is first: it has no tabs and menus to draw for each page, so the tests
 * of pages take half the time. It is named without the script that starts it.
 */
const places = [
  '/usr/lib/chromium/chromium-headless-shell',
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/snap/bin/chromium',
];

/** Returns the path of the Chromium for the tests: CHROMIUM, else the system's; undefined if there is none. */
export function findChromium(): string | undefined {
  return [process.env['CHROMIUM'], ...places].find((path) => path !== undefined && existsSync(path));
}

/** Returns the path of Chromium. @throws Error that says how to install Chromium */
function needChromium(): string {
  const found = findChromium();
  if (found === undefined)
    throw new Error('There is no Chromium: apt-get install chromium-headless-shell, or set CHROMIUM to one.');
  return found;
}

/** Starts a headless Chromium for our own pages. */
export const launchChromium = (): Promise<Chromium> =>
  chromium.launch({ executablePath: needChromium(), args: ['--no-sandbox', '--disable-gpu'] });

const local = /^(?:https?|wss?):\/\/(?:127\.0\.0\.1|localhost)(?::|\/)/;
// Matches requests of webviews. The service worker of VS Code's webviews responds to them, so they never leave the
// browser.
const webview = /^https:\/\/[^/]*\.vscode-resource\.vscode-cdn\.net\//;

/** Size of a window, in pixels. */
export type Size = { width: number; height: number };
const usualSize: Size = { width: 1400, height: 900 };

/** Starts a headless Chromium with a separate profile below `folder`. It can reach only this machine. */
export async function openBrowser(folder: string, viewport: Size = usualSize): Promise<Browser> {
  const context = await startChromium(folder, viewport);
  const page = context.pages()[0] ?? (await context.newPage());
  return { ...watch(page), folder, close: () => closeWithin10Seconds(context) };
}

let shared: { readonly folder: string; readonly context: Promise<BrowserContext> } | undefined;

function startShared(): NonNullable<typeof shared> {
  const folder = tempFolder('lance-browser-');
  return { folder, context: startChromium(folder, usualSize) };
}

/** Ends the Chromium of `openSharedBrowser`, so that this process can end. */
export async function closeSharedBrowser(): Promise<void> {
  const context = await shared?.context;
  shared = undefined;
  if (context) await closeWithin10Seconds(context);
}

/**
 * Opens a page in the Chromium that all windows of this process share, one after the other. What it has loaded and
 * compiled of the workbench stays cached, so the next window takes a third less processor time to open. `close` removes
 * everything that pages of `origin` have stored, so the next window finds no settings or credentials of this one.
 */
export async function openSharedBrowser(origin: string, viewport: Size = usualSize): Promise<Browser> {
  shared ??= startShared();
  const { folder } = shared;
  const context = await shared.context;
  // Chromium would end with its last page.
  const first = context.pages()[0] ?? (await context.newPage());
  const page = await context.newPage();
  await page.setViewportSize(viewport);
  const close = async (): Promise<void> => {
    context.removeAllListeners('request');
    for (const each of context.pages()) if (each !== first) await each.close();
    const session = await context.newCDPSession(first);
    await session.send('Storage.clearDataForOrigin', { origin, storageTypes: 'all' });
    await session.detach();
    await context.clearCookies();
  };
  return { ...watch(page), folder, close };
}

/** Collects what a page prints and requests. */
function watch(page: Page): Omit<Browser, 'folder' | 'close'> {
  const consoleLines: string[] = [];
  const blocked = new Set<string>();
  page.on('console', (message) => consoleLines.push(`[${message.type()}] ${message.text()}`));
  page.on('request', (request) => {
    const url = request.url();
    if (/^(?:https?|wss?):/.test(url) && !local.test(url) && !webview.test(url)) blocked.add(url);
  });
  return { page, context: page.context(), consoleLines, blocked };
}

async function startChromium(folder: string, viewport: Size): Promise<BrowserContext> {
  const executablePath = needChromium();
  const run = join(folder, 'browser');
  mkdirSync(run, { recursive: true, mode: 0o700 });
  const context = await chromium.launchPersistentContext(join(run, 'profile'), {
    executablePath,
    headless: true,
    viewport,
    timeout: 60_000,
    permissions: ['clipboard-read', 'clipboard-write'],
    env: { ...definedEnvironment(), HOME: run, TMPDIR: run },
    args: [
      // Chromium's sandbox needs privileges that containers lack. This browser opens only our loopback server.
      '--no-sandbox',
      '--disable-gpu',
      '--disable-dev-shm-usage',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
      '--no-first-run',
      '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost',
    ],
  });
  // A shared machine pauses for seconds now and then.
  context.setDefaultTimeout(60_000);
  return context;
}

async function closeWithin10Seconds(context: BrowserContext): Promise<void> {
  await Promise.race([context.close(), new Promise((resolve) => setTimeout(resolve, 10_000))]);
}

function definedEnvironment(): Record<string, string> {
  return Object.fromEntries(
    Object.entries(process.env).filter((pair): pair is [string, string] => pair[1] !== undefined),
  );
}
