import type { Browser, Page } from 'playwright-core';
import type { PanelTable } from '#shared/protocol/webviewMessages.ts';
import { launchChromium } from '../../harness/browser.ts';
import type { Served } from './pages.ts';
import { inPanelPage, PanelHostStandIn, servePanel } from './panelHostStandIn.ts';
import type { ThemeName } from './themes.ts';

type SuiteOptions = {
  /** The table that a panel shows first. */
  readonly table: PanelTable;
  readonly width?: number;
  readonly height?: number;
  /** Selects what a panel shows before a test starts. */
  readonly firstShown?: string;
  /** Sets what the stand-in returns, before it opens the page. */
  readonly prepare?: (host: PanelHostStandIn) => void;
};

export type PanelOptions = {
  readonly theme?: ThemeName;
  readonly width?: number;
  readonly table?: PanelTable;
  /** Sets further responses of the stand-in, before it opens the page. */
  readonly prepare?: ((host: PanelHostStandIn) => void) | undefined;
};

export type PanelTest = (page: Page, host: PanelHostStandIn) => Promise<void>;

/**
 * Starts a server of panel pages and a browser for a suite, and ends them after its last test. Call it within the suite.
 * @returns a function that runs a test in a new page, whose panel shows its first rows
 */
export function openPanelPages(suiteOptions: SuiteOptions): (run: PanelTest, options?: PanelOptions) => Promise<void> {
  const { height = 500, firstShown = '[role=gridcell]:not([aria-busy])' } = suiteOptions;
  let server: Served;
  let browser: Browser;

  suiteSetup(async () => {
    server = await servePanel();
    browser = await launchChromium();
  });

  suiteTeardown(async () => {
    await browser?.close();
    server?.close();
  });

  return (run, { theme = 'dark', width = suiteOptions.width ?? 1_100, table = suiteOptions.table, prepare } = {}) =>
    inPanelPage(browser, { width, height }, async (page) => {
      const host = new PanelHostStandIn(page, table);
      suiteOptions.prepare?.(host);
      prepare?.(host);
      try {
        await host.open(server.url, theme);
        await page.locator(firstShown).first().waitFor();
        await run(page, host);
      } finally {
        host.close();
      }
    });
}

/** Waits until the toolbar shows this number of rows. The text must begin so: "12 of 1,000 rows" has "1,000 rows", too. */
export async function showsCount(page: Page, text: string): Promise<void> {
  const shown = page.locator('.lance-toolbar-count', { hasText: new RegExp(`^${text.replace('+', '\\+')}`) });
  await shown.waitFor();
}
