import { cpSync, existsSync, mkdirSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { main as makePackages, vsixPath } from '../../scripts/package.ts';
import { inRoot } from '../../scripts/paths.ts';
import { thisPlatform } from '../../scripts/platforms.mjs';
import {
  cacheFolder,
  installExtension,
  makeProfile,
  startServer,
  type Profile,
  type Server,
} from '../../scripts/workbench/server.ts';
import { openSharedBrowser, type Browser, type Size } from './browser.ts';
import { shareKernelSnapshot } from './kernelSnapshot.ts';
import { tempFolder } from './temp.ts';
import { installedWorkbench, openWorkbench, withoutShell } from './workbench.ts';

/** A workbench as a user has it: with the packaged extension installed, in a browser, on a copy of the sample. */
export type Window = {
  readonly page: Page;
  readonly browser: Browser;
  readonly server: Server;
  /** The opened folder, which contains tour.ipynb. */
  readonly folder: string;
  readonly catalog: string;
  readonly close: () => Promise<void>;
};

/** Packages the extension for this platform, unless the package is newer than the build. Returns its path. */
export async function packagedExtension(): Promise<string> {
  const target = thisPlatform()?.target;
  if (target === undefined) throw new Error(`There is no package for ${process.platform}-${process.arch}.`);
  const file = vsixPath(target);
  const inputs = [
    'dist/.built',
    'package.json',
    'README.md',
    'docs/cluster-checks.md',
    'snippets',
    'media',
    '.vscodeignore',
  ].map((name) => inRoot(name));
  const isFresh =
    existsSync(file) && inputs.every((input) => existsSync(input) && statSync(input).mtimeMs < statSync(file).mtimeMs);
  if (!isFresh && (await makePackages(['--target', target])) !== 0) throw new Error(`Packaging for ${target} failed.`);
  return file;
}

/** Names the folder of installed extensions, which the runner of all layers creates for all processes of a layer. */
export const installedVariable = 'LANCE_TEST_EXTENSIONS';

let installed = process.env[installedVariable];

/** Returns the folder of installed extensions, created once because unpacking 240 MB takes seconds. */
export async function installedExtensions(): Promise<string> {
  if (installed === undefined) {
    const profile = makeProfile(tempFolder('lance-ext-'));
    await installExtension(installedWorkbench(), profile, await packagedExtension());
    installed = profile.extensions;
  }
  return installed;
}

/** The folder of the installed extension's bundles. */
export async function installedDist(): Promise<string> {
  const folder = await installedExtensions();
  const name = readdirSync(folder).find((one) => one.startsWith('lance-catalog.'));
  if (name === undefined) throw new Error(`${folder} does not hold the extension.`);
  return join(folder, name, 'dist');
}

let lastPort = 0;

/**
 * Opens a window. `settings` are added to the default settings of tests and to the sample connection. A tall window
 * shows more of a notebook.
 *
 * @param extensions the folder of installed extensions, if there are others in addition to the packaged one
 */
export async function openWindow(
  settings: Record<string, unknown> = {},
  size?: Size,
  extensions?: string,
): Promise<Window> {
  const work = tempFolder('lance-ui-');
  const folder = join(work, 'notebooks');
  const catalog = join(work, 'catalog');
  mkdirSync(folder);
  cpSync(inRoot('scripts/sample/tour.ipynb'), join(folder, 'tour.ipynb'));
  // The tour writes to the catalog, so copy the sample.
  cpSync(inRoot('.sample/tests'), catalog, { recursive: true });
  const all = {
    'security.workspace.trust.enabled': false,
    'lanceCatalog.defaultConnections': [{ name: 'sample', root: catalog }],
    ...settings,
  };
  const profile: Profile = {
    ...makeProfile(join(work, 'profile'), all),
    extensions: extensions ?? (await installedExtensions()),
  };
  const env = { ...withoutShell, ...shareKernelSnapshot(cacheFolder(profile), await installedDist()) };
  const start = { workbench: installedWorkbench(), profile, folder, env };
  // The browser has cached the workbench of the last port. Another process may have taken that port meanwhile.
  const server = await startServer({ ...start, port: lastPort }).catch(() => startServer(start));
  lastPort = server.port;
  const browser = await openSharedBrowser(server.address, size);
  const close = async (): Promise<void> => {
    await browser.close();
    await server.stop();
  };
  try {
    await openWorkbench(browser.page, server, { folder });
    // Wait until the window has loaded the extensions. Before that it would show a notebook as text.
    await browser.page.locator('.activitybar a[aria-label^="Lance Catalog"]').first().waitFor({ timeout: 90_000 });
  } catch (error) {
    await close();
    throw error;
  }
  return { page: browser.page, browser, server, folder, catalog, close };
}

/** Saves a screenshot as test-results/ui/NAME.png. */
export async function shoot(window: Window, name: string): Promise<void> {
  mkdirSync(inRoot('test-results/ui'), { recursive: true });
  await window.page.screenshot({ path: inRoot('test-results/ui', `${name}.png`) });
}
