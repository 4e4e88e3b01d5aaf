import * as path from 'node:path';
import * as vscode from 'vscode';
import type { CatalogNode, Connection } from './node.ts';
import type { CatalogTree } from './tree.ts';

/** Delay after a change, in milliseconds, because changes come in groups. */
const quietMs = 300;
/** Minimum time between two reads of the same rows, in milliseconds, for changes that this window only suspects. */
const suspectMs = 5000;

type UpdateDeps = {
  tree: Pick<CatalogTree, 'update'>;
  view: Pick<vscode.TreeView<CatalogNode>, 'visible' | 'onDidChangeVisibility'>;
  connections: () => readonly Connection[];
  onDidChangeConnections: vscode.Event<void>;
  report: (what: string, error: unknown) => void;
};

/**
 * Keeps the tree up to date: after cells and jobs, when files of a directory change, and when the user returns to the
 * view or the window. While the view is hidden, nothing is read.
 */
export class TreeUpdates implements vscode.Disposable {
  readonly #deps: UpdateDeps;
  readonly #subscriptions: vscode.Disposable[];
  /** The connections whose rows are not read yet, and those that `onDidChange` has not named yet. */
  readonly #waiting = new Set<string>();
  readonly #unnamed = new Set<string>();
  readonly #didChange = new vscode.EventEmitter<readonly string[]>();
  /** Fires with the names of connections whose tables may have changed, also while the view is hidden. */
  readonly onDidChange = this.#didChange.event;
  #watchers: vscode.Disposable[] = [];
  #timer: NodeJS.Timeout | undefined;
  #readAt = 0;

  constructor(deps: UpdateDeps) {
    this.#deps = deps;
    const { view } = deps;
    this.#subscriptions = [
      view.onDidChangeVisibility(({ visible }) => {
        this.#watch();
        // Nothing was watched while the view was hidden, so even rows that were just read may have changed.
        if (visible) this.changed();
      }),
      vscode.window.onDidChangeWindowState(({ focused }) => focused && view.visible && this.#suspect()),
      deps.onDidChangeConnections(() => this.#watch()),
    ];
    this.#watch();
  }

  /** Reads the rows of these connections soon, because their tables may have changed. Default: all connections. */
  changed(connections: readonly string[] = this.#names()): void {
    for (const name of connections) {
      this.#waiting.add(name);
      this.#unnamed.add(name);
    }
    this.#timer ??= setTimeout(() => this.#tell(), quietMs);
  }

  /** Called after a cell has ended. A cell may change tables in all directories and on the server of its notebook. */
  cellEnded(connection: string | undefined): void {
    const directories = this.#deps.connections().filter(({ kind }) => kind === 'dir');
    this.changed([...directories.map(({ name }) => name), ...(connection === undefined ? [] : [connection])]);
  }

  dispose(): void {
    clearTimeout(this.#timer);
    this.#didChange.dispose();
    for (const one of [...this.#subscriptions, ...this.#watchers]) one.dispose();
  }

  /** Other programs may have changed tables while the user was away. */
  #suspect(): void {
    if (Date.now() - this.#readAt > suspectMs) this.changed();
    else if (this.#waiting.size > 0) this.changed([]);
  }

  #tell(): void {
    this.#timer = undefined;
    const names = [...this.#unnamed];
    this.#unnamed.clear();
    if (names.length > 0) this.#didChange.fire(names);
    if (this.#deps.view.visible) this.#read();
  }

  #read(): void {
    const names = new Set(this.#waiting);
    this.#waiting.clear();
    this.#readAt = Date.now();
    this.#deps.tree.update(names).catch((error: unknown) => this.#deps.report('updating the catalog tree', error));
  }

  #names(): string[] {
    return this.#deps.connections().map(({ name }) => name);
  }

  /**
   * Watches directories on this machine while the view is visible. A table of the root is a folder. A change of a
   * namespace or of its tables is a new version of `__manifest`.
   */
  #watch(): void {
    for (const one of this.#watchers.splice(0)) one.dispose();
    if (!this.#deps.view.visible) return;
    for (const connection of this.#deps.connections()) {
      if (connection.kind !== 'dir' || !path.isAbsolute(connection.root)) continue;
      for (const folder of [connection.root, path.join(connection.root, '__manifest', '_versions')]) {
        // A pattern without folders watches only the entries of the folder itself, not all files of all tables.
        const files = new vscode.RelativePattern(vscode.Uri.file(folder), '*');
        const watcher = vscode.workspace.createFileSystemWatcher(files, false, true, false);
        const changed = (): void => this.changed([connection.name]);
        this.#watchers.push(watcher, watcher.onDidCreate(changed), watcher.onDidDelete(changed));
      }
    }
  }
}
