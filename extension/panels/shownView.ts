import * as vscode from 'vscode';
import { CatalogError, isAbort } from '#shared/errors.ts';
import { displayPath } from '#shared/names.ts';
import { type SavedView, wholeTable } from '#shared/protocol/panelViews.ts';
import type { ColumnSettings, PanelView, SavedViewState } from '#shared/protocol/webviewMessages.ts';
import { askText, confirm } from '../host/ask.ts';
import { logFailure, type Log } from '../host/log.ts';
import type { ColumnMemory } from './columnMemory.ts';
import { isSameShown, type SavedViews, standardColumns, viewNameProblem } from './savedViews.ts';
import { isSamePlace, type TablePlace } from './tableSource.ts';
import { chooseSavedView } from './viewMenu.ts';

/** The panel whose view is saved. */
type ViewedPanel = {
  readonly log: Log;
  readonly saved: SavedViews;
  readonly columns: ColumnMemory;
  /** Returns the filter and the order of the rows; undefined if the panel has no table. */
  readonly view: () => Promise<PanelView | undefined>;
  readonly showVersion: (version: number) => Promise<void>;
  /** Filters, sorts and sets the columns. The result is false if the filter or the order fails. */
  readonly apply: (view: PanelView, columns: ColumnSettings) => Promise<boolean>;
  /** Says which saved view is shown. */
  readonly tell: (state: SavedViewState) => Promise<void>;
};

/** A view file and what it shows. */
export type FileView = { readonly uri: vscode.Uri; readonly shown: SavedView };

/** The name of the saved view that a panel showed before a reload of the window, or the view file that it opens. */
export type StartView = { readonly name?: string | undefined; readonly file?: FileView | undefined };

/** The saved view that a panel shows, and what the user does with the views of its table. */
export class ShownView {
  readonly #panel: ViewedPanel;
  #place: TablePlace | undefined;
  #name: string | undefined;
  #file: FileView | undefined;
  #columns: ColumnSettings | undefined;

  constructor(panel: ViewedPanel, place: TablePlace | undefined, { name, file }: StartView = {}) {
    this.#panel = panel;
    this.#place = place;
    this.#name = name;
    this.#file = file;
    this.#columns = file && (file.shown.columns ?? standardColumns);
  }

  /** The view file of this panel. */
  get fileUri(): vscode.Uri | undefined {
    return this.#file?.uri;
  }

  /** Takes over a new content of the view file. @returns false if the panel shows something else */
  async takeFile(shown: SavedView): Promise<boolean> {
    const { shown: now } = await this.current();
    if (!this.#file || now.version !== shown.version || !isSameShown(now, shown)) return false;
    this.#file = { ...this.#file, shown };
    this.#name = undefined;
    await this.tell();
    return true;
  }

  /** The columns as they are set in this panel. */
  get columns(): ColumnSettings | undefined {
    return this.#columns ?? this.#saved?.columns ?? this.#panel.columns.find(this.#place);
  }

  /** Takes over another table, which has no view yet. Another version of the same table keeps its view. */
  showTable(place: TablePlace | undefined): void {
    if (!isSamePlace(place, this.#place)) {
      this.#name = undefined;
      this.#columns = undefined;
    }
    this.#place = place;
  }

  /** Takes over columns that a cell has chosen, which are not remembered for the table. */
  takeColumns(settings: ColumnSettings): void {
    this.#columns = settings;
  }

  /**
   * Takes over the columns as the user has set them, and remembers them for the table. While a saved view is shown, they
   * belong to the view.
   */
  async keepColumns(settings: ColumnSettings): Promise<void> {
    this.#columns = settings;
    if (this.#place && !this.#saved) await this.#panel.columns.keep(this.#place, settings);
    await this.tell();
  }

  /** Returns what the panel shows. `name` is that of the saved view; the version is set if the user chose it. */
  async current(): Promise<{ readonly place: TablePlace; readonly shown: SavedView }> {
    const place = this.#tablePlace();
    const { columns } = this;
    const { version } = place;
    const view = (await this.#panel.view()) ?? wholeTable;
    const name = this.#saved?.name ?? '';
    return { place, shown: { name, view, ...(columns && { columns }), ...(version !== undefined && { version }) } };
  }

  /** Lets the user choose, save, rename and delete the views of the table. */
  async choose(signal: AbortSignal): Promise<void> {
    const place = this.#tablePlace();
    const { shown } = await this.current();
    const { isChanged } = this.#state(shown.view);
    const isWhole = isSameShown(shown, { view: wholeTable });
    const title = `Views of ${displayPath(place.path, place.table)}`;
    const views = this.#panel.saved.list(place);
    const menu = { title, views, shown: this.#saved, isChanged, isWhole };
    const chosen = await chooseSavedView(menu, signal);
    if (!chosen) return;
    switch (chosen.kind) {
      case 'show':
        return this.show(chosen.view);
      case 'reset':
        return this.show(undefined);
      case 'save':
        return this.save();
      case 'again':
        return this.show(this.#saved);
      case 'file':
        return this.#saveFile(undefined);
      case 'updateShown':
        return this.#name === undefined ? this.#saveFile(this.#file?.uri) : this.#keep(this.#name);
      case 'update':
        return this.#keep(chosen.name);
      case 'rename':
        return this.#rename(chosen.name);
      case 'delete':
        return this.delete(chosen.name);
    }
  }

  /** Shows a saved view by its name. @throws CatalogError InvalidInput (13) if there is none */
  showNamed(name: string): Promise<void> {
    return this.show(this.#panel.saved.get(this.#tablePlace(), name));
  }

  /** Filters, sorts and sets the columns as in a view; without one, shows all rows and columns. */
  async show(view: SavedView | undefined): Promise<void> {
    const { version } = this.#tablePlace();
    if (view?.version !== undefined && view.version !== version) await this.#panel.showVersion(view.version);
    const columns = view?.columns ?? standardColumns;
    if (!(await this.#panel.apply(view?.view ?? wholeTable, columns))) return;
    this.#name = view === this.#file?.shown ? undefined : view?.name;
    await this.keepColumns(columns);
  }

  /** Saves what the panel shows. @param given its name; asks for it by default */
  async save(given?: string): Promise<void> {
    const others = this.#panel.saved.list(this.#tablePlace());
    const name = given ?? (await askName('Save View', others, ''));
    if (name !== undefined) await this.#keep(name.trim());
  }

  /** Deletes a saved view after a question. */
  async delete(name: string): Promise<void> {
    const place = this.#tablePlace();
    const detail = `The table "${displayPath(place.path, place.table)}" is not changed.`;
    if (!(await confirm(`Delete the view "${name}"?`, detail, 'Delete View'))) return;
    await this.#panel.saved.delete(place, name);
    await this.tell();
  }

  /** Returns which saved view the panel shows; undefined if the panel has no table. */
  async state(): Promise<SavedViewState | undefined> {
    const view = await this.#panel.view();
    return view && this.#state(view);
  }

  /** Tells the page which saved view it shows. */
  async tell(): Promise<void> {
    if (!this.#place) return;
    try {
      const state = await this.state();
      if (state) await this.#panel.tell(state);
    } catch (error) {
      if (!isAbort(error)) logFailure(this.#panel.log, 'telling the saved view', error);
    }
  }

  /** The saved view; undefined if none is shown, or if it was deleted. */
  get #saved(): SavedView | undefined {
    return this.#name === undefined ? this.#file?.shown : this.#panel.saved.find(this.#place, this.#name);
  }

  async #saveFile(uri: vscode.Uri | undefined): Promise<void> {
    await vscode.commands.executeCommand('lanceCatalog.table.saveViewFile', uri);
  }

  #state(view: PanelView): SavedViewState {
    const saved = this.#saved;
    if (!saved) return { name: null, isChanged: false };
    return { name: saved.name, isChanged: !isSameShown(saved, { view, columns: this.columns }) };
  }

  async #keep(name: string): Promise<void> {
    const { place, shown } = await this.current();
    // A saved view shows the newest rows, also if the panel shows an old version now.
    const { version: _, ...kept } = shown;
    await this.#panel.saved.save(place, { ...kept, name });
    this.#name = name;
    await this.tell();
  }

  async #rename(name: string): Promise<void> {
    const place = this.#tablePlace();
    const others = this.#panel.saved.list(place).filter((one) => one.name !== name);
    const next = await askName('Rename View', others, name);
    if (next === undefined) return;
    await this.#panel.saved.rename(place, name, next);
    if (this.#name === name) this.#name = next.trim();
    await this.tell();
  }

  /** @throws CatalogError Unsupported (0) if the rows are not those of a table of a catalog */
  #tablePlace(): TablePlace {
    if (this.#place) return this.#place;
    throw new CatalogError('Unsupported', 'These rows have no saved views.', 'Open a table of the Lance Catalog view.');
  }
}

const askName = (title: string, others: readonly SavedView[], value: string): Promise<string | undefined> =>
  askText({
    title,
    prompt: 'Name of the view: its filter, order and columns',
    value,
    check: (name) => viewNameProblem(name, others),
  });
