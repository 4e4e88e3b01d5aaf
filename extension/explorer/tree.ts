import * as vscode from 'vscode';
import { isAbort } from '#shared/errors.ts';
import { loadChildren, loadPage, type LoaderContext } from './loaders.ts';
import {
  isWithin,
  nodeId,
  parentOf,
  nodePath,
  type Ability,
  type CatalogNode,
  type Connection,
  type NodeOf,
} from './node.ts';
import { createTreeItem } from '../host/treeRow.ts';
import { renderNode, type NodeView } from './render.ts';

export type TreeContext = LoaderContext & {
  /** Returns the abilities of a connection's catalog. Default: all. */
  abilities?(connection: string): ReadonlySet<Ability>;
};

type Loading = { node: CatalogNode; controller: AbortController; rows: Promise<CatalogNode[]> };

/** The tree view's data: loaded rows and refresh events. loaders.ts loads rows and render.ts displays them. */
export class CatalogTree implements vscode.TreeDataProvider<CatalogNode>, vscode.Disposable {
  readonly #connections: () => readonly Connection[];
  readonly #context: TreeContext;
  readonly #changed = new vscode.EventEmitter<CatalogNode | undefined>();
  readonly onDidChangeTreeData = this.#changed.event;
  readonly #refreshed = new vscode.EventEmitter<void>();
  /** Fires when rows are dropped because the catalog may have changed. */
  readonly onDidRefresh = this.#refreshed.event;

  /**
   * Rows that VS Code shows under a node. The next request for these rows returns them again if `lasts` is true for
   * every row.
   */
  readonly #shown = new Map<string, CatalogNode[]>();
  /** Nodes whose rows this class has changed. The next request for their rows returns `#shown` once. */
  readonly #handedOver = new Set<string>();
  /** Collapsed nodes to reload when they are expanded, because VS Code keeps their rows until a refresh. */
  readonly #stale = new Set<string>();
  /** The object of each row. VS Code identifies a row by object identity, so events must contain the same object. */
  readonly #known = new Map<string, CatalogNode>();
  /** Pending requests. A refresh of an ancestor aborts them, and late results are dropped. */
  readonly #loading = new Map<string, Loading>();

  constructor(connections: () => readonly Connection[], context: TreeContext) {
    this.#connections = connections;
    this.#context = context;
  }

  getTreeItem(node: CatalogNode): vscode.TreeItem {
    const { connection } = nodePath(node);
    const item = toTreeItem(renderNode(node, this.#context.abilities?.(connection)), node);
    // Expand the only catalog. VS Code remembers if the user collapses it.
    const isOnly = node.kind === 'connection' && this.#connections().length === 1;
    if (isOnly) item.collapsibleState = vscode.TreeItemCollapsibleState.Expanded;
    return item;
  }

  getParent(node: CatalogNode): CatalogNode | undefined {
    const parent = parentOf(node, this.#connections());
    return parent && (this.#known.get(nodeId(parent)) ?? parent);
  }

  async getChildren(node?: CatalogNode): Promise<CatalogNode[]> {
    if (!node) {
      return this.#remember(this.#connections().map((connection) => ({ kind: 'connection', connection })));
    }
    const id = nodeId(node);
    const shown = this.#shown.get(id);
    if (shown && this.#handedOver.delete(id)) return shown;
    // A failed page is shown once. Earlier pages stay, and the "more" row requests the failed page again.
    const kept = shown && withoutFailedPages(shown);
    if (kept?.every(lasts)) {
      this.#shown.set(id, kept);
      return kept;
    }
    return this.#load(id, node, async (signal) => {
      const rows = this.#remember(await loadChildren(node, this.#context, signal));
      if (!signal.aborted) this.#shown.set(id, rows);
      return rows;
    });
  }

  /**
   * Replaces the "more" row by the next page. If the request fails, adds an error row before the "more" row. A click on
   * the "more" row then retries the request.
   */
  async loadMore(row: NodeOf<'more'>): Promise<void> {
    const parent = this.getParent(row);
    if (!parent) return;
    const id = nodeId(row);
    await this.#load(id, row, async (signal) => {
      const page = this.#remember(await loadPage(row, this.#context, signal));
      const parentId = nodeId(parent);
      const rows = this.#shown.get(parentId)?.filter((one) => one.kind !== 'error' || one.about !== row.what);
      const at = rows?.findIndex((one) => nodeId(one) === id) ?? -1;
      if (signal.aborted || !rows || at < 0) return page;
      const failed = page.some((one) => one.kind === 'error');
      this.#shown.set(parentId, rows.toSpliced(at, failed ? 0 : 1, ...page));
      this.#handedOver.add(parentId);
      this.#changed.fire(parent);
      return page;
    });
  }

  /** Called when the user collapses a node. Rows that may have changed are reloaded at the next expansion. */
  collapsed(node: CatalogNode): void {
    const id = nodeId(node);
    if (this.#shown.get(id)?.every(lasts) === false) this.#stale.add(id);
  }

  /**
   * Called when the user expands a node. Requests a reload at most once per collapse, so that no reload causes another.
   */
  expanded(node: CatalogNode): void {
    const id = nodeId(node);
    if (!this.#stale.delete(id)) return;
    this.#handedOver.delete(id);
    this.#changed.fire(this.#known.get(id));
  }

  /** Renders the rows of a connection again after its abilities changed, without new requests. */
  redraw(connection: string): void {
    let top: CatalogNode | undefined;
    for (const [id, known] of this.#known) {
      if (nodePath(known).connection !== connection) continue;
      if (known.kind === 'connection') top = known;
      if (this.#shown.has(id)) this.#handedOver.add(id);
    }
    if (top) this.#changed.fire(top);
  }

  /** Drops the rows under a node, or all rows, and lets VS Code request the visible rows again. */
  refresh(node?: CatalogNode): void {
    this.#refreshed.fire();
    const top = node && (hasChildren(node) ? node : this.getParent(node));
    for (const { controller, node: loading } of this.#loading.values()) {
      if (!top || isWithin(loading, top)) controller.abort();
    }
    if (!top) {
      this.#shown.clear();
      this.#handedOver.clear();
      this.#stale.clear();
      this.#known.clear();
      this.#changed.fire(undefined);
      return;
    }
    for (const [id, known] of this.#known) {
      if (!isWithin(known, top)) continue;
      for (const kept of [this.#shown, this.#handedOver, this.#stale]) kept.delete(id);
    }
    this.#changed.fire(this.#known.get(nodeId(top)));
  }

  dispose(): void {
    for (const { controller } of this.#loading.values()) controller.abort();
    this.#changed.dispose();
    this.#refreshed.dispose();
  }

  /** Runs one request at a time for each row; further callers wait for the same result. */
  async #load(
    id: string,
    node: CatalogNode,
    run: (signal: AbortSignal) => Promise<CatalogNode[]>,
  ): Promise<CatalogNode[]> {
    const running = this.#loading.get(id);
    if (running && !running.controller.signal.aborted) return running.rows;
    const controller = new AbortController();
    const settle = async (): Promise<CatalogNode[]> => {
      try {
        return await run(controller.signal);
      } catch (error) {
        if (isAbort(error)) return [];
        throw error;
      } finally {
        if (this.#loading.get(id)?.controller === controller) this.#loading.delete(id);
      }
    };
    const rows = settle();
    this.#loading.set(id, { node, controller, rows });
    return rows;
  }

  /** Replaces known rows by their existing objects, updated with the new data. */
  #remember(rows: CatalogNode[]): CatalogNode[] {
    return rows.map((row) => {
      const id = nodeId(row);
      const known = this.#known.get(id);
      if (known) return Object.assign(known, row);
      this.#known.set(id, row);
      return row;
    });
  }
}

const hasChildren = (node: CatalogNode): boolean =>
  node.kind === 'connection' || node.kind === 'namespace' || node.kind === 'table';

/**
 * Whether a row stays valid until a refresh. The row of an error or an empty list does not, because an error or an
 * empty list can change without an event.
 */
const lasts = (node: CatalogNode): boolean => node.kind !== 'error' && node.kind !== 'empty';

const withoutFailedPages = (rows: CatalogNode[]): CatalogNode[] =>
  rows.filter((row) => row.kind !== 'error' || !rows.some((one) => one.kind === 'more' && one.what === row.about));

function toTreeItem(view: NodeView, node: CatalogNode): vscode.TreeItem {
  const { tooltip, command } = view;
  return createTreeItem(view, tooltip, command && { command: command.id, title: command.title, arguments: [node] });
}
