import * as vscode from 'vscode';
import { CatalogError, isAbort, messageOf } from '#shared/errors.ts';
import type { PanelHostMethods, PanelTable, PanelViewMethods } from '#shared/protocol/webviewMessages.ts';
import { pageRows } from '#shared/mime.ts';
import { Endpoint } from '#shared/protocol/rpc.ts';
import { logFailure, type Log } from '../host/log.ts';
import { asRecord } from '#shared/records.ts';
import { panelTypes } from '../manifest.ts';
import { webviewHtml } from './html.ts';
import { exactBytes, lostSource, type TablePlace, type TableSource } from './tableSource.ts';
import { isCount } from '#shared/shape.ts';

/** Maximum number of rows that a webview may request at once. */
const maxRows = 4 * pageRows;

type Showing = { source: TableSource; table: Promise<PanelTable>; controller: AbortController };

/** A webview panel and the table that it shows. */
export class TablePanel implements vscode.Disposable {
  readonly panel: vscode.WebviewPanel;
  readonly #log: Log;
  readonly #endpoint: Endpoint<PanelHostMethods, PanelViewMethods>;
  readonly #subscriptions: vscode.Disposable[] = [];
  #showing: Showing;
  /** Whether the webview has requested its table. Before this request, the webview can't receive another table. */
  #isListening = false;
  #isPinned = false;
  #rowsSent = 0;

  constructor(panel: vscode.WebviewPanel, source: TableSource, dist: vscode.Uri, log: Log) {
    this.panel = panel;
    this.#log = log;
    this.#showing = this.#open(source);
    this.#endpoint = new Endpoint<PanelHostMethods, PanelViewMethods>(
      (frame) => void panel.webview.postMessage(frame),
      {
        ready: () => {
          this.#isListening = true;
          return this.#showing.table;
        },
        rows: (params, signal) => this.#rows(params, signal),
      },
    );
    this.#subscriptions.push(
      panel.webview.onDidReceiveMessage((frame: unknown) => void this.#endpoint.receive(frame)),
      panel.onDidDispose(() => this.dispose()),
    );
    panel.webview.options = { enableScripts: true, localResourceRoots: [dist] };
    panel.webview.html = webviewHtml(panel.webview, dist, 'table', source.title);
    this.#retitle();
  }

  /** The table in the panel. @throws the reason if it can't be opened */
  get table(): Promise<PanelTable> {
    return this.#showing.table;
  }

  get rowsSent(): number {
    return this.#rowsSent;
  }

  get title(): string {
    return this.#showing.source.title;
  }

  /** Location of the table; `undefined` if it is not in a catalog. */
  get place(): TablePlace | undefined {
    return this.#showing.source.place;
  }

  get isPinned(): boolean {
    return this.#isPinned;
  }

  /** Pins the panel, so that the next preview opens another panel. */
  pin(): void {
    this.#isPinned = true;
    this.#retitle();
  }

  /** Shows another table in this panel, and cancels pending reads of the old table. */
  async show(source: TableSource): Promise<void> {
    this.#showing.controller.abort();
    this.#showing = this.#open(source);
    this.#retitle();
    if (!this.#isListening) return;
    const { table, controller } = this.#showing;
    try {
      const opened = await table;
      if (!controller.signal.aborted) await this.#endpoint.request('show', opened, controller.signal);
    } catch (error) {
      if (isAbort(error) || controller.signal.aborted) return;
      await this.#endpoint.request('fail', { title: source.title, message: messageOf(error) }, controller.signal);
    }
  }

  rows(start: number, end: number, signal: AbortSignal): Promise<Uint8Array> {
    return this.#showing.source.rows(start, end, signal).then(exactBytes);
  }

  dispose(): void {
    this.#showing.controller.abort();
    this.#endpoint.close();
    for (const subscription of this.#subscriptions.splice(0)) subscription.dispose();
  }

  #open(source: TableSource): Showing {
    const controller = new AbortController();
    const table = source.open(controller.signal);
    // Handle a failure now: the webview may request the table only after `open` has failed.
    table.catch((error: unknown) => {
      if (!isAbort(error)) logFailure(this.#log, `opening ${source.title}`, error);
    });
    return { source, table, controller };
  }

  async #rows(params: PanelHostMethods['rows'][0], signal: AbortSignal): Promise<Uint8Array> {
    const { source, table } = this.#showing;
    const { key, start, end } = checkRows(params);
    if ((await table).key !== key) {
      throw new CatalogError('InvalidInput', 'The panel shows another table now.', 'Open this one again.');
    }
    try {
      const bytes = exactBytes(await source.rows(start, end, signal));
      this.#rowsSent += end - start;
      return bytes;
    } catch (error) {
      if (!isAbort(error)) logFailure(this.#log, `rows ${start}-${end} of ${source.title}`, error);
      throw error;
    }
  }

  #retitle(): void {
    const { title } = this.#showing.source;
    this.panel.title = this.#isPinned ? title : `Preview: ${title}`;
  }
}

function checkRows(params: unknown): PanelHostMethods['rows'][0] {
  const { key, start, end } = asRecord(params);
  if (typeof key === 'string' && isCount(start) && isCount(end) && start < end && end - start <= maxRows) {
    return { key, start, end };
  }
  throw new CatalogError(
    'InvalidInput',
    'The range of rows is not valid.',
    `Request at most ${maxRows} rows at a time.`,
  );
}

/** Creates and lists the panels. At most one panel is unpinned, and the next preview reuses this panel. */
export class TablePanels implements vscode.WebviewPanelSerializer, vscode.Disposable {
  readonly #panels = new Set<TablePanel>();
  readonly #dist: vscode.Uri;
  readonly #icon: { light: vscode.Uri; dark: vscode.Uri };
  readonly #log: Log;
  readonly #restore: (state: unknown) => TableSource;
  readonly #onUnpinned: (isUnpinned: boolean) => void;

  constructor(options: {
    extensionUri: vscode.Uri;
    log: Log;
    /** Returns the source of the table in a webview's saved state. If the state has no table, the source can't open. */
    restore: (state: unknown) => TableSource;
    /** Called after each change with whether the active panel is unpinned. */
    onUnpinned: (isUnpinned: boolean) => void;
  }) {
    const { extensionUri, log, restore, onUnpinned } = options;
    this.#dist = vscode.Uri.joinPath(extensionUri, 'dist');
    const media = (name: string) => vscode.Uri.joinPath(extensionUri, 'media', name);
    this.#icon = { light: media('table-light.svg'), dark: media('table-dark.svg') };
    this.#log = log;
    this.#restore = restore;
    this.#onUnpinned = onUnpinned;
  }

  /** The open panels, oldest first. */
  get all(): readonly TablePanel[] {
    return [...this.#panels];
  }

  /** Shows a table in the unpinned panel, or in a new panel if every panel is pinned. */
  async preview(source: TableSource): Promise<TablePanel> {
    const unpinned = this.all.find((one) => !one.isPinned);
    if (unpinned) {
      unpinned.panel.reveal(undefined, true);
      await unpinned.show(source);
      return unpinned;
    }
    // Keep the focus in the tree, so that the arrow keys still move through the tree.
    const column = { viewColumn: vscode.ViewColumn.Active, preserveFocus: true };
    return this.#adopt(vscode.window.createWebviewPanel(panelTypes.table, source.title, column), source);
  }

  /** Pins the given panel, else the active panel, else the unpinned panel. */
  pin(given?: TablePanel): void {
    const panel = given ?? this.all.find((one) => one.panel.active) ?? this.all.find((one) => !one.isPinned);
    panel?.pin();
    this.#tell();
  }

  /** Shows the reason in the panels of tables that no longer exist. */
  async lose(isLost: (place: TablePlace) => boolean, why: CatalogError): Promise<void> {
    const lost = this.all.filter(({ place }) => place && isLost(place));
    await Promise.all(lost.map((one) => one.show(lostSource(one.title, why))));
  }

  async deserializeWebviewPanel(panel: vscode.WebviewPanel, state: unknown): Promise<void> {
    const unpinned = this.all.some((one) => !one.isPinned);
    const adopted = this.#adopt(panel, this.#restore(state));
    if (unpinned) adopted.pin();
  }

  dispose(): void {
    for (const one of this.all) one.panel.dispose();
  }

  #adopt(panel: vscode.WebviewPanel, source: TableSource): TablePanel {
    panel.iconPath = this.#icon;
    const adopted = new TablePanel(panel, source, this.#dist, this.#log);
    this.#panels.add(adopted);
    panel.onDidDispose(() => {
      this.#panels.delete(adopted);
      this.#tell();
    });
    panel.onDidChangeViewState(() => this.#tell());
    this.#tell();
    return adopted;
  }

  #tell(): void {
    this.#onUnpinned(this.all.some((one) => one.panel.active && !one.isPinned));
  }
}
