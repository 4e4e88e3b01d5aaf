import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import type * as vscode from 'vscode';
import { columnsOf } from '#shared/arrow/arrowTypes.ts';
import type {
  ColumnPosition,
  PanelAction,
  ColumnValues,
  PanelGrowth,
  PanelHostMethods,
  PanelTable,
  PanelView,
  ColumnSettings,
  PanelViewMethods,
  PanelReview,
  ReviewAction,
  SavedViewState,
} from '#shared/protocol/webviewMessages.ts';
import { Endpoint } from '#shared/protocol/rpc.ts';
import { webviewHtml } from '../../../extension/panels/html.ts';
import type { Size } from '../../harness/browser.ts';
import { rowsOf } from './gridRows.ts';
import { tableToIPC } from '#arrow';
import { buildPart, inPage, servePages, type Served } from './pages.ts';
import { themes, type ThemeName } from './themes.ts';

/** Returns the description of the table that the stand-in serves. */
export const tableOf = (numRows: number, change: Partial<PanelTable> = {}): PanelTable => ({
  title: 'shop/products',
  key: `products-${numRows}`,
  columns: columnsOf(rowsOf(0, 1).schema),
  numRows,
  version: 3,
  ...change,
});

/**
 * Serves the page of a webview as the extension creates it. Its policy is also sent as a header, because the page can't
 * weaken a header.
 */
export async function servePanel(name = 'table'): Promise<Served> {
  const folder = await buildPart(`${name}.js`, 'gridDetail.js', 'gridGallery.js', 'gridColumns.js', 'tableParts.js');
  const files: Record<string, string> = {
    [`/${name}.js`]: 'text/javascript',
    [`/${name}.css`]: 'text/css',
    '/gridDetail.js': 'text/javascript',
    '/gridGallery.js': 'text/javascript',
    '/gridColumns.js': 'text/javascript',
    '/tableParts.js': 'text/javascript',
  };
  return servePages((path, origin) => {
    const type = files[path];
    if (type !== undefined) return { type, body: readFileSync(join(folder, path)) };
    const html = panelPage(name, origin);
    return { type: 'text/html', body: html, policy: policyOf(html) };
  });
}

export const policyOf = (html: string): string =>
  /http-equiv="Content-Security-Policy" content="([^"]*)"/.exec(html)?.[1] ?? '';

/** Returns the page with the globals that VS Code provides, and a list of what its policy refused. */
function panelPage(name: string, origin: string): string {
  const uri = (path: string): vscode.Uri =>
    ({ path, with: (change: { path: string }) => uri(change.path), toString: () => path }) as vscode.Uri;
  const html = webviewHtml(
    { asWebviewUri: (file) => file, cspSource: origin },
    uri('/'),
    name,
    'Panel',
    name === 'table' ? 'table' : 'page',
  );
  const nonce = /<style nonce="([^"]+)"/.exec(html)?.[1] ?? '';
  return html.replace(
    '<style',
    `<script nonce="${nonce}">
  window.violations = [];
  addEventListener('securitypolicyviolation', (event) => window.violations.push(event.violatedDirective));
  window.acquireVsCodeApi = () => ({ postMessage: (frame) => window.postToHost(frame), setState: (state) => sessionStorage.setItem('state', JSON.stringify(state)), getState: () => JSON.parse(sessionStorage.getItem('state') ?? 'null') });
</script><style`,
  );
}

/**
 * Stands in for the extension host behind a table panel: returns rows computed from their numbers. It is used for
 * sizes, failures and themes that are hard to create in the workbench. Other tests use the real extension host in the
 * workbench.
 */
export class PanelHostStandIn {
  /** Requested ranges, in order. */
  readonly asked: { start: number; end: number; columns?: ColumnPosition[] }[] = [];
  /** Returns the error message for a request that must fail. */
  failing: (start: number) => string | undefined = () => undefined;
  /** Returns the rows of a request as a stream. */
  rows: (start: number, end: number, columns: number[] | undefined) => Uint8Array = (start, end, columns) => {
    const rows = rowsOf(start, end);
    return tableToIPC(columns ? rows.selectAt(columns) : rows, 'stream');
  };
  /** Returns the rows of a request for nested fields as a stream. */
  nestedRows: (start: number, end: number, columns: ColumnPosition[]) => Uint8Array = () => {
    throw new Error('The stand-in has no nested fields.');
  };
  /** Returns bytes of a blob. */
  blob: (row: number, start: number, end: number, column: ColumnPosition) => Uint8Array = () => new Uint8Array(0);
  /** Returns the table of a view. */
  view: (view: PanelView) => PanelTable = () => {
    throw new Error('The stand-in has no views.');
  };
  /** The views whose tables the page has got, in order. */
  readonly views: PanelView[] = [];
  filterByCell: (params: PanelHostMethods['filterByCell'][0]) => string = () => '';
  /** The actions that the user has chosen. */
  readonly acted: (PanelAction | ReviewAction)[] = [];
  columnValues: (params: PanelHostMethods['columnValues'][0]) => ColumnValues = () => ({ values: [], isMore: false });
  /** What the page has set on the columns. */
  kept: ColumnSettings | undefined;
  cancelled = 0;
  /** The name that the user gives to a saved file; `undefined` if the user cancels. */
  savesAs: string | undefined = 'chosen';
  /** How long a part takes. */
  writeMs = 0;
  saved: { name: string; parts: Uint8Array[]; isComplete: boolean | undefined } | undefined;
  readonly #page: Page;
  readonly #table: PanelTable;
  readonly #endpoint: Endpoint<PanelHostMethods, PanelViewMethods>;

  constructor(page: Page, table: PanelTable) {
    this.#page = page;
    this.#table = table;
    // The page may have been closed before the response.
    const post = (frame: unknown) =>
      void page.evaluate((message) => window.postMessage(message), frame).catch(() => {});
    this.#endpoint = new Endpoint<PanelHostMethods, PanelViewMethods>(post, {
      ready: () => this.#table,
      act: ({ action }) => {
        this.acted.push(action);
        return null;
      },
      keepColumns: ({ settings }) => {
        this.kept = settings;
        return null;
      },
      blob: ({ row, start, end, column }) => this.blob(row, start, end, column),
      view: ({ view }) => {
        const shown = this.view(view);
        this.views.push(view);
        return shown;
      },
      filterByCell: (params) => this.filterByCell(params),
      columnValues: (params) => this.columnValues(params),
      createFile: ({ name }) => {
        if (this.savesAs === undefined) return null;
        this.saved = { name, parts: [], isComplete: undefined };
        return { id: 1, name: this.savesAs };
      },
      writeFile: async ({ bytes }) => {
        await new Promise((resolve) => setTimeout(resolve, this.writeMs));
        this.saved?.parts.push(bytes);
        return null;
      },
      closeFile: ({ isComplete }) => {
        if (this.saved) this.saved.isComplete = isComplete;
        return null;
      },
      rows: async ({ start, end, columns }, signal) => {
        this.asked.push({ start, end, ...(columns && { columns }) });
        await new Promise((resolve) => setTimeout(resolve, 5));
        if (signal.aborted) {
          this.cancelled++;
          signal.throwIfAborted();
        }
        const message = this.failing(start);
        if (message !== undefined) throw new Error(message);
        if (columns?.some((column) => typeof column !== 'number')) return this.nestedRows(start, end, columns);
        return this.rows(start, end, columns as number[] | undefined);
      },
    });
  }

  /** Opens the panel's page with the colors and fonts of a theme. */
  async open(url: string, theme: ThemeName): Promise<void> {
    await this.#page.exposeFunction('postToHost', (frame: unknown) => void this.#endpoint.receive(frame));
    await dress(this.#page, theme);
    await this.#page.goto(url);
  }

  grow(growth: PanelGrowth): Promise<unknown> {
    return this.#endpoint.request('grow', growth);
  }

  show(table: PanelTable): Promise<unknown> {
    return this.#endpoint.request('show', table);
  }

  applyView(view: PanelView, columns: ColumnSettings): Promise<unknown> {
    return this.#endpoint.request('applyView', { view, columns });
  }

  review(review: PanelReview): Promise<unknown> {
    return this.#endpoint.request('review', review);
  }

  savedView(state: SavedViewState): Promise<unknown> {
    return this.#endpoint.request('savedView', state);
  }

  goToRow(): Promise<unknown> {
    return this.#endpoint.request('goToRow', null);
  }

  fail(title: string, message: string): Promise<unknown> {
    return this.#endpoint.request('fail', { title, message, actions: ['retry'] });
  }

  close(): void {
    this.#endpoint.close();
  }
}

/** Runs a test in a new panel page, and fails if something threw there or the policy refused a request. */
export const inPanelPage = (browser: Browser, viewport: Size, run: (page: Page) => Promise<void>): Promise<void> =>
  inPage(browser, viewport, async (page) => {
    await run(page);
    assert.deepEqual(await page.evaluate(() => (window as unknown as { violations: string[] }).violations), []);
  });

/** Sets VS Code's colors and fonts in the pages that open from now on. */
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
