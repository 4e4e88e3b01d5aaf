import { build } from 'esbuild';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { columnsOf } from '#shared/arrowTypes.ts';
import type { PanelHostMethods, PanelTable, PanelViewMethods } from '#shared/messages.ts';
import { Endpoint } from '#shared/rpc.ts';
import { bundleOptions, bundles } from '../../scripts/bundles.ts';
import { rowsOf, streamOf } from './gridRows.ts';

/** What the panel's page may load in the editor; served as a header, which nothing in the page can loosen. */
const policy = (nonce: string, origin: string): string =>
  `default-src 'none'; script-src 'nonce-${nonce}'; style-src ${origin} 'nonce-${nonce}'; img-src blob: data:; font-src ${origin}`;

/** What each theme of the editor sets, as far as the grid asks for it. Colours are those of the built-in themes. */
export const themes = {
  light: {
    '--vscode-editor-background': '#ffffff',
    '--vscode-foreground': '#3b3b3b',
    '--vscode-editor-foreground': '#3b3b3b',
    '--vscode-descriptionForeground': '#3b3b3b',
    '--vscode-focusBorder': '#005fb8',
    '--vscode-editorLineNumber-foreground': '#6e7681',
    '--vscode-list-hoverBackground': '#f2f2f2',
    '--vscode-list-inactiveSelectionBackground': '#e4e6f1',
    '--vscode-editorGroup-border': '#e5e5e5',
    '--vscode-tree-tableColumnsBorder': '#61616120',
    '--vscode-errorForeground': '#f85149',
    '--vscode-charts-blue': '#1a85ff',
    '--vscode-button-secondaryBackground': '#e5e5e5',
    '--vscode-button-secondaryForeground': '#3b3b3b',
    '--vscode-button-background': '#005fb8',
    '--vscode-button-foreground': '#ffffff',
    '--vscode-progressBar-background': '#005fb8',
    '--vscode-editorWarning-foreground': '#bf8803',
    '--vscode-editorError-foreground': '#e51400',
    '--vscode-testing-iconPassed': '#388a34',
    '--vscode-textCodeBlock-background': '#f8f8f8',
  },
  dark: {
    '--vscode-editor-background': '#1f1f1f',
    '--vscode-foreground': '#cccccc',
    '--vscode-editor-foreground': '#cccccc',
    '--vscode-descriptionForeground': '#9d9d9d',
    '--vscode-focusBorder': '#0078d4',
    '--vscode-editorLineNumber-foreground': '#6e7681',
    '--vscode-list-hoverBackground': '#2a2d2e',
    '--vscode-list-inactiveSelectionBackground': '#37373d',
    '--vscode-editorGroup-border': '#ffffff17',
    '--vscode-tree-tableColumnsBorder': '#cccccc20',
    '--vscode-errorForeground': '#f85149',
    '--vscode-charts-blue': '#3794ff',
    '--vscode-button-secondaryBackground': '#313131',
    '--vscode-button-secondaryForeground': '#cccccc',
    '--vscode-button-background': '#0078d4',
    '--vscode-button-foreground': '#ffffff',
    '--vscode-progressBar-background': '#0078d4',
    '--vscode-editorWarning-foreground': '#cca700',
    '--vscode-editorError-foreground': '#f14c4c',
    '--vscode-testing-iconPassed': '#73c991',
    '--vscode-textCodeBlock-background': '#2b2b2b',
  },
  highContrast: {
    '--vscode-editor-background': '#000000',
    '--vscode-foreground': '#ffffff',
    '--vscode-editor-foreground': '#ffffff',
    '--vscode-descriptionForeground': '#ffffffb3',
    '--vscode-focusBorder': '#f38518',
    '--vscode-contrastBorder': '#6fc3df',
    '--vscode-editorLineNumber-foreground': '#ffffff',
    '--vscode-editorGroup-border': '#6fc3df',
    '--vscode-errorForeground': '#f48771',
    '--vscode-charts-blue': '#3794ff',
    '--vscode-button-secondaryForeground': '#ffffff',
    '--vscode-button-foreground': '#ffffff',
    '--vscode-progressBar-background': '#6fc3df',
  },
  highContrastLight: {
    '--vscode-editor-background': '#ffffff',
    '--vscode-foreground': '#292929',
    '--vscode-editor-foreground': '#292929',
    '--vscode-descriptionForeground': '#292929b3',
    '--vscode-focusBorder': '#006bbd',
    '--vscode-contrastBorder': '#0f4a85',
    '--vscode-editorLineNumber-foreground': '#292929',
    '--vscode-editorGroup-border': '#0f4a85',
    '--vscode-errorForeground': '#b5200d',
    '--vscode-charts-blue': '#0f4a85',
    '--vscode-button-secondaryForeground': '#0f4a85',
    '--vscode-button-background': '#0f4a85',
    '--vscode-button-foreground': '#ffffff',
    '--vscode-progressBar-background': '#0f4a85',
  },
} as const;
export type ThemeName = keyof typeof themes;

/** The table that the stand-in answers for. */
export const tableOf = (numRows: number, change: Partial<PanelTable> = {}): PanelTable => ({
  title: 'shop/products',
  key: `products-${numRows}`,
  columns: columnsOf(rowsOf(0, 1).schema),
  numRows,
  version: 3,
  ...change,
});

/** The page of a webview as the editor makes it, on a server of our own, with the policy as a header. */
export async function servePanel(folder: string, name = 'table'): Promise<{ url: string; close(): void }> {
  const bundle = bundles.find(({ outputs }) => outputs[0] === `${name}.js`)!;
  await build({ ...bundleOptions(bundle), outfile: join(folder, `${name}.js`) });
  const nonce = 'standin';
  const server = createServer((request, response) => {
    const origin = `http://${request.headers.host ?? ''}`;
    const files: Record<string, string> = { [`/${name}.js`]: 'text/javascript', [`/${name}.css`]: 'text/css' };
    const type = files[request.url ?? ''];
    response.setHeader('Content-Security-Policy', policy(nonce, origin));
    response.setHeader('Content-Type', type ?? 'text/html');
    response.end(type ? readFileSync(join(folder, request.url ?? '')) : panelPage(nonce, name));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}/`, close: () => server.close() };
}

const panelPage = (nonce: string, name: string): string => `<!doctype html><html lang="en"><head><meta charset="utf-8">
<link rel="stylesheet" href="/${name}.css">
<script nonce="${nonce}">
  window.violations = [];
  addEventListener('securitypolicyviolation', (event) => window.violations.push(event.violatedDirective));
  window.acquireVsCodeApi = () => ({ postMessage: (frame) => window.postToHost(frame), setState: (state) => (window.state = state) });
</script></head><body><div id="root"></div><script type="module" nonce="${nonce}" src="/${name}.js"></script></body></html>`;

/**
 * Stands for the extension host behind a table panel: it answers the panel's requests with rows that follow from their
 * numbers. The real one is tested inside the workbench; this one is here for sizes, failures and themes that are awkward
 * to bring about there.
 */
export class PanelHostStandIn {
  /** Asked ranges, in order. */
  readonly asked: { start: number; end: number }[] = [];
  /** Fails the requests for which it gives a message. */
  failing: (start: number) => string | undefined = () => undefined;
  cancelled = 0;
  readonly #page: Page;
  readonly #table: PanelTable;
  readonly #endpoint: Endpoint<PanelHostMethods, PanelViewMethods>;

  constructor(page: Page, table: PanelTable) {
    this.#page = page;
    this.#table = table;
    // An answer to a page that was closed meanwhile has nowhere to go.
    const post = (frame: unknown) =>
      void page.evaluate((message) => window.postMessage(message), frame).catch(() => {});
    this.#endpoint = new Endpoint<PanelHostMethods, PanelViewMethods>(post, {
      ready: () => this.#table,
      rows: async ({ start, end }, signal) => {
        this.asked.push({ start, end });
        await new Promise((resolve) => setTimeout(resolve, 5));
        if (signal.aborted) {
          this.cancelled++;
          signal.throwIfAborted();
        }
        const message = this.failing(start);
        if (message !== undefined) throw new Error(message);
        return streamOf(start, end);
      },
    });
  }

  /** Opens the panel's page, with the editor's colours and fonts set. */
  async open(url: string, theme: ThemeName): Promise<void> {
    await this.#page.exposeFunction('postToHost', (frame: unknown) => void this.#endpoint.receive(frame));
    await dress(this.#page, theme);
    await this.#page.goto(url);
  }

  show(table: PanelTable): Promise<unknown> {
    return this.#endpoint.request('show', table);
  }

  fail(title: string, message: string): Promise<unknown> {
    return this.#endpoint.request('fail', { title, message });
  }

  close(): void {
    this.#endpoint.close();
  }
}

/** Gives the pages that are opened from now on the editor's colours and fonts. */
export async function dress(page: Page, theme: ThemeName): Promise<void> {
  const css = { ...themes[theme], ...fonts };
  const bodyClasses = theme.startsWith('highContrast') ? 'vscode-high-contrast' : '';
  await page.addInitScript(
    ([properties, classes]) => {
      addEventListener('DOMContentLoaded', () => {
        document.body.className = classes;
        for (const [name, value] of Object.entries(properties)) document.documentElement.style.setProperty(name, value);
        document.body.style.backgroundColor = 'var(--vscode-editor-background)';
      });
    },
    [css, bodyClasses] as const,
  );
}

const fonts = {
  '--vscode-font-family': 'system-ui, "Ubuntu", "Droid Sans", sans-serif',
  '--vscode-font-size': '13px',
  '--vscode-editor-font-family': '"Droid Sans Mono", "monospace", monospace',
};
