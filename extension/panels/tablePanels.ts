import * as vscode from 'vscode';
import type { NearestSpec } from '#catalog/view/nearestSpec.ts';
import type { ChangesOfTables } from '#catalog/view/changesCode.ts';
import type { ViewOfTable } from '#catalog/view/tableRows.ts';
import type { NearestFacts, PanelNearest } from '#shared/protocol/webviewMessages.ts';
import type { CatalogError } from '#shared/errors.ts';
import { displayPath } from '#shared/names.ts';
import { asRecord } from '#shared/records.ts';
import type { Log } from '../host/log.ts';
import { panelTypes } from '../manifest.ts';
import type { ColumnMemory } from './columnMemory.ts';
import type { PanelFailures } from './panelFailure.ts';
import type { SavedViews } from './savedViews.ts';
import { shownFilter } from './searchedRows.ts';
import {
  isResultState,
  isSamePlace,
  lostSource,
  type OutputPlace,
  type TablePlace,
  type TableSource,
} from './tableSource.ts';
import { changesOfTables } from './changesSource.ts';
import type { ChooseChangesDeps } from './chooseChanges.ts';
import type { FileView, StartView } from './shownView.ts';
import type { ViewDeps } from './viewSource.ts';
import { TablePanel } from './tablePanel.ts';

/** Creates and lists the panels. At most one panel is unpinned, and the next preview reuses this panel. */
export class TablePanels implements vscode.WebviewPanelSerializer, vscode.Disposable {
  readonly #panels = new Set<TablePanel>();
  /** The panels of results, by their owner. */
  readonly #results = new Map<string, TablePanel>();
  /** The panels whose results were lost when the window was reloaded. The next results are shown in them. */
  readonly #lost = new Set<TablePanel>();
  /** The panels of view files. A preview of their table opens another panel. */
  readonly #files = new Set<TablePanel>();
  readonly #dist: vscode.Uri;
  readonly #icon: { light: vscode.Uri; dark: vscode.Uri };
  readonly #log: Log;
  readonly #restore: (state: unknown) => TableSource;
  readonly #sourceOf: (place: TablePlace) => TableSource;
  readonly #failures: PanelFailures;
  readonly #views: ViewDeps;
  readonly #comparing: Omit<ChooseChangesDeps, 'views'>;
  readonly #columns: ColumnMemory;
  /** The views that the user has saved. */
  readonly saved: SavedViews;
  readonly #onUnpinned: (isUnpinned: boolean) => void;
  /** Returns the source of the rows of a notebook output, for a panel that a reload of the window restores. */
  outputSource: ((title: string, place: OutputPlace) => TableSource) | undefined;

  constructor(options: {
    extensionUri: vscode.Uri;
    log: Log;
    /** Returns the source of the table in a webview's saved state. If the state has no table, the source can't open. */
    restore: (state: unknown) => TableSource;
    sourceOf: (place: TablePlace) => TableSource;
    failures: PanelFailures;
    views: ViewDeps;
    comparing: Omit<ChooseChangesDeps, 'views'>;
    columns: ColumnMemory;
    saved: SavedViews;
    /** Called after each change with whether the active panel is unpinned. */
    onUnpinned: (isUnpinned: boolean) => void;
  }) {
    const { extensionUri, log, restore, sourceOf, failures, views, comparing, columns, saved, onUnpinned } = options;
    this.#dist = vscode.Uri.joinPath(extensionUri, 'dist');
    const media = (name: string) => vscode.Uri.joinPath(extensionUri, 'media', name);
    this.#icon = { light: media('table-light.svg'), dark: media('table-dark.svg') };
    this.#log = log;
    this.#restore = restore;
    this.#sourceOf = sourceOf;
    this.#failures = failures;
    this.#views = views;
    this.#comparing = comparing;
    this.#columns = columns;
    this.saved = saved;
    this.#onUnpinned = onUnpinned;
  }

  /** The open panels, oldest first. */
  get all(): readonly TablePanel[] {
    return [...this.#panels];
  }

  /**
   * Shows a table in the panel that is pinned to it, else in the unpinned panel, or in a new panel if every panel is
   * pinned.
   */
  async preview(source: TableSource, { isBeside = false } = {}): Promise<TablePanel> {
    const pinned = this.all.find(
      (one) =>
        one.isPinned &&
        !this.#files.has(one) &&
        isSamePlace(one.place, source.place) &&
        one.place?.version === source.place?.version,
    );
    if (pinned) {
      reveal(pinned, isBeside);
      if (pinned.hasFailed || source.startView) await pinned.show(source);
      return pinned;
    }
    const unpinned = this.all.find((one) => !one.isPinned);
    if (unpinned) {
      reveal(unpinned, isBeside);
      const shown = unpinned.show(source);
      this.#retitle();
      await shown;
      return unpinned;
    }
    // Keep the focus in the tree, so that the arrow keys still move through the tree. A notebook stays visible.
    const viewColumn = isBeside ? vscode.ViewColumn.Beside : vscode.ViewColumn.Active;
    const column = { viewColumn, preserveFocus: true };
    return this.#adopt(vscode.window.createWebviewPanel(panelTypes.table, source.title, column), source);
  }

  /** Shows a table of a catalog beside a notebook, with a view and columns. */
  async previewPlace(place: TablePlace, view: Pick<TableSource, 'startView' | 'columns'>): Promise<TablePanel> {
    return this.preview({ ...this.#sourceOf(place), ...view }, { isBeside: true });
  }

  /** The column of the panel with the last result; `undefined` if there is none. */
  get resultColumn(): vscode.ViewColumn | undefined {
    return [...this.#results.values()].at(-1)?.panel.viewColumn;
  }

  /**
   * Shows a result in the panel of its owner, or in a new panel: with other results, or beside the active editor.
   * Previews never reuse such a panel.
   */
  async showResult(owner: string, source: TableSource): Promise<TablePanel> {
    const known = this.#results.get(owner) ?? this.#takeLost(owner);
    if (known) {
      if (!known.panel.visible) known.panel.reveal(undefined, true);
      const shown = known.show(source);
      this.#retitle();
      await shown;
      return known;
    }
    const { resultColumn } = this;
    const isApart = resultColumn !== undefined && resultColumn !== vscode.window.activeTextEditor?.viewColumn;
    const column = { viewColumn: isApart ? resultColumn : vscode.ViewColumn.Beside, preserveFocus: true };
    const adopted = this.#adopt(vscode.window.createWebviewPanel(panelTypes.table, source.title, column), source);
    adopted.pin();
    this.#tell();
    this.#keepResult(owner, adopted);
    return adopted;
  }

  #keepResult(owner: string, panel: TablePanel): void {
    this.#results.set(owner, panel);
    panel.panel.onDidDispose(() => {
      if (this.#results.get(owner) === panel) this.#results.delete(owner);
    });
  }

  #takeLost(owner: string): TablePanel | undefined {
    const [panel] = this.#lost;
    if (!panel) return undefined;
    this.#lost.delete(panel);
    this.#keepResult(owner, panel);
    return panel;
  }

  /** Shows the table of a view file in the panel of its editor. */
  showFile(panel: vscode.WebviewPanel, place: TablePlace, file: FileView): TablePanel {
    const source = { ...this.#sourceOf(place), startView: file.shown.view };
    const adopted = this.#adopt(panel, source, { file });
    adopted.pin();
    this.#tell();
    return adopted;
  }

  /** Ends the table in the panel of a view file, whose editor stays. */
  closeFile(table: TablePanel): void {
    table.dispose();
    this.#panels.delete(table);
    this.#files.delete(table);
    this.#retitle();
    this.#tell();
  }

  /** Pins the given panel, else the active panel, else the unpinned panel. */
  pin(given?: TablePanel): void {
    const panel = given ?? this.all.find((one) => one.panel.active) ?? this.all.find((one) => !one.isPinned);
    panel?.pin();
    this.#tell();
  }

  /** The panel that the user is in; `undefined` if another editor has the focus. */
  get active(): TablePanel | undefined {
    return this.all.find((one) => one.panel.active);
  }

  /** Opens the box for the number of a row in the active panel. */
  async goToRow(): Promise<void> {
    await this.active?.goToRow();
  }

  /**
   * Looks for newer versions of the tables that are shown, because tables of these connections may have changed. Default:
   * all connections.
   */
  async lookForNewer(connections?: readonly string[]): Promise<void> {
    const shown = this.all.filter(
      ({ panel, place }) => panel.visible && place && (connections?.includes(place.connection) ?? true),
    );
    await Promise.all(shown.map((one) => one.lookForNewer()));
  }

  /** Returns the rows in the active panel, or the comparison, if they are those of a table in a catalog. */
  async activeView(): Promise<{ connection: string; view: ViewOfTable | ChangesOfTables } | undefined> {
    const panel = this.active;
    if (!panel?.place) return undefined;
    const { connection, path, table, version } = panel.place;
    const shown = await panel.table;
    const { columns, view, nearest: found } = shown;
    if (shown.changes && view?.changes) return { connection, view: changesOfTables(panel.place, shown, view.changes) };
    const [where, orderBy, nearest] = [shownFilter(shown), view?.orderBy, view?.nearest];
    const chosen = {
      ...(where.trim() !== '' && { where }),
      orderBy,
      ...(nearest && { nearest: searchAsFound(nearest, found) }),
    };
    const allColumns = columns.map(({ name }) => name);
    return { connection, view: { namespacePath: path, name: table, version, ...chosen, allColumns } };
  }

  /** Lets the user choose the version of the table in the active panel. */
  async chooseVersion(): Promise<void> {
    await this.active?.chooseVersion();
  }

  /** Lets the user choose what the table in the active panel is compared with. */
  async compare(): Promise<void> {
    await this.active?.compare();
  }

  /** Shows the reason in the panels of tables that no longer exist. */
  async lose(isLost: (place: TablePlace) => boolean, why: CatalogError): Promise<void> {
    const lost = this.all.filter(({ place }) => place && isLost(place));
    await Promise.all(lost.map((one) => one.show(lostSource(one.title, why))));
  }

  /** Shows a renamed table under its new name in the panels that show it. */
  async follow(from: TablePlace, to: TablePlace): Promise<void> {
    await Promise.all([this.#columns.move(from, to), this.saved.move(from, to)]);
    const moved = this.all.filter(({ place }) => isSamePlace(place, from));
    await Promise.all(moved.map((one) => one.show(this.#sourceOf({ ...to, version: one.place?.version }))));
    this.#retitle();
  }

  async deserializeWebviewPanel(panel: vscode.WebviewPanel, state: unknown): Promise<void> {
    const unpinned = this.all.some((one) => !one.isPinned);
    const { savedView } = asRecord(state);
    const name = typeof savedView === 'string' ? savedView : undefined;
    const adopted = this.#adopt(panel, this.#restore(state), { name });
    const isResult = isResultState(state);
    if (unpinned || isResult) adopted.pin();
    if (!isResult) return;
    this.#lost.add(adopted);
    panel.onDidDispose(() => this.#lost.delete(adopted));
  }

  dispose(): void {
    for (const one of this.all) one.panel.dispose();
  }

  #adopt(panel: vscode.WebviewPanel, source: TableSource, start?: StartView): TablePanel {
    panel.iconPath = this.#icon;
    const adopted = new TablePanel(panel, source, {
      dist: this.#dist,
      log: this.#log,
      failures: this.#failures,
      views: this.#views,
      comparing: this.#comparing,
      columns: this.#columns,
      saved: this.saved,
      start,
      onDidShow: () => this.#retitle(),
    });
    this.#panels.add(adopted);
    if (start?.file) this.#files.add(adopted);
    this.#retitle();
    panel.onDidDispose(() => {
      this.#panels.delete(adopted);
      this.#files.delete(adopted);
      this.#retitle();
      this.#tell();
    });
    panel.onDidChangeViewState(() => this.#tell());
    this.#tell();
    return adopted;
  }

  /** Adds the namespace to the titles of tables that have the same name in the same catalog. */
  #retitle(): void {
    const tables = this.all.filter((one) => !this.#files.has(one));
    for (const { panel, title, place } of tables) {
      const isAmbiguous = tables.some((other) => other.title === title && !isSamePlace(other.place, place));
      panel.title = place && isAmbiguous ? `${displayPath(place.path, place.table)} (${place.connection})` : title;
    }
  }

  #tell(): void {
    this.#onUnpinned(this.all.some((one) => one.panel.active && !one.isPinned));
  }
}

/** Reveals a panel without the focus, beside the editor that the user is in if that must stay visible. */
function reveal({ panel }: TablePanel, isBeside: boolean): void {
  const isOverEditor = !panel.active && panel.viewColumn === vscode.window.tabGroups.activeTabGroup.viewColumn;
  panel.reveal(isBeside && isOverEditor ? vscode.ViewColumn.Beside : undefined, true);
}

/** Returns a search that says how its rows were found, so that code finds the same ones. */
const searchAsFound = (
  { column, vectors, k, distanceType, useIndex }: PanelNearest,
  found: NearestFacts | undefined,
): NearestSpec => ({
  column,
  vector: vectors,
  k,
  distanceType: found?.distanceType ?? distanceType,
  useIndex: found?.usesIndex ?? useIndex,
});
