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
import { renderNode, renderTableHover, type NodeView } from './render.ts';
import type { TreeFolds } from './treeFolds.ts';

export type TreeContext = LoaderContext & {
  /** Returns the abilities of a connection's catalog. Default: all. */
  abilities?(connection: string): ReadonlySet<Ability>;
  /** Which rows the user has left expanded. Default: none. */
  folds?: Pick<TreeFolds, 'isExpanded' | 'set'>;
};

/** How long a hover waits for the description of a table, in milliseconds. */
const hoverMs = 3000;

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
  /** Nodes that the user has collapsed. */
  readonly #collapsed = new Set<string>();
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
    const { None, Collapsed, Expanded } = vscode.TreeItemCollapsibleState;
    if (item.collapsibleState !== None) {
      const { folds } = this.#context;
      const id = nodeId(node);
      // Expand the only catalog until the user collapses it; also after a second one has been added.
      const isOnly = node.kind === 'connection' && this.#connections().length === 1;
      if (isOnly && folds?.isExpanded(id) === undefined) folds?.set(id, true);
      item.collapsibleState = (folds?.isExpanded(id) ?? isOnly) ? Expanded : Collapsed;
    }
    // VS Code calls `resolveTreeItem` only for a row without a tooltip.
    if (node.kind === 'table') delete item.tooltip;
    return item;
  }

  /** Reads the size and location of a table when the pointer is on its row. */
  async resolveTreeItem(
    item: vscode.TreeItem,
    node: CatalogNode,
    token: vscode.CancellationToken,
  ): Promise<vscode.TreeItem> {
    if (node.kind !== 'table') return item;
    const controller = new AbortController();
    const cancelling = token.onCancellationRequested(() => controller.abort());
    const signal = AbortSignal.any([controller.signal, AbortSignal.timeout(hoverMs)]);
    try {
      const catalog = await this.#context.catalog(node.connection);
      item.tooltip = renderTableHover(
        node,
        await catalog.describeTable(node.table, { namespacePath: node.path, signal }),
      );
    } catch {
      // Without a description, the hover has only the path. The preview and the columns of the table report the error.
      item.tooltip = renderTableHover(node);
    } finally {
      cancelling.dispose();
    }
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
   * Replaces the "more" row with the next page. If the request fails, adds an error row before the "more" row. A click
   * on the "more" row then retries the request.
   * @returns the first new row; `undefined` if the request failed or was canceled
   */
  async loadMore(row: NodeOf<'more'>): Promise<CatalogNode | undefined> {
    const parent = this.getParent(row);
    if (!parent) return undefined;
    const id = nodeId(row);
    const [first] = await this.#load(id, row, async (signal) => {
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
    return first?.kind === 'error' ? undefined : first;
  }

  /** Called when the user collapses a node. Rows that may have changed are reloaded at the next expansion. */
  collapsed(node: CatalogNode): void {
    const id = nodeId(node);
    this.#context.folds?.set(id, false);
    this.#collapsed.add(id);
    if (this.#shown.get(id)?.every(lasts) === false) this.#stale.add(id);
  }

  /**
   * Called when the user expands a node. Requests a reload at most once per collapse, so that no reload causes another.
   */
  expanded(node: CatalogNode): void {
    const id = nodeId(node);
    this.#context.folds?.set(id, true);
    this.#collapsed.delete(id);
    if (!this.#stale.delete(id)) return;
    this.#handedOver.delete(id);
    this.#changed.fire(this.#known.get(id));
  }

  /**
   * Reads the rows of the expanded nodes again, and shows those that have changed. Other rows stay as they are, so the
   * tree keeps its selection and does not flicker. A list that can't be read keeps its rows.
   * @param connections reads only the rows of these connections; default: all
   */
  async update(connections?: ReadonlySet<string>): Promise<void> {
    const nodes = [...this.#shown.keys()].flatMap((id) => this.#known.get(id) ?? []);
    const isMeant = (node: CatalogNode): boolean => connections?.has(nodePath(node).connection) ?? true;
    const reading: Promise<void>[] = [];
    for (const node of nodes.filter(isMeant)) {
      const id = nodeId(node);
      if (!this.#collapsed.has(id) && !isBelowCollapsed(node, this.#connections(), this.#collapsed)) {
        reading.push(this.#readAgain(id, node));
        continue;
      }
      // The rows are read when the user expands the node.
      this.#shown.delete(id);
      this.#handedOver.delete(id);
      this.#stale.add(id);
    }
    await Promise.all(reading);
  }

  async #readAgain(id: string, node: CatalogNode): Promise<void> {
    if (this.#loading.has(id)) return;
    await this.#load(id, node, async (signal) => {
      const before = this.#shown.get(id) ?? [];
      const rows = await this.#readRows(node, before, signal);
      if (signal.aborted || this.#shown.get(id) !== before) return this.#shown.get(id) ?? [];
      if (rows.some(({ kind }) => kind === 'error') || isSame(rows, before)) return before;
      const shown = this.#remember(rows);
      const ids = new Set(shown.map(nodeId));
      for (const gone of before) if (!ids.has(nodeId(gone))) this.#drop(gone);
      this.#shown.set(id, shown);
      this.#handedOver.add(id);
      this.#changed.fire(this.#known.get(id));
      this.#refreshed.fire();
      return shown;
    });
  }

  /** Reads as many pages of a node as the tree shows now. */
  async #readRows(node: CatalogNode, before: readonly CatalogNode[], signal: AbortSignal): Promise<CatalogNode[]> {
    // Don't log failures, because the user did not request these rows.
    const context: LoaderContext = { ...this.#context, answered: () => undefined, report: () => undefined };
    let rows = await loadChildren(node, context, signal);
    for (const what of ['namespaces', 'tables'] as const) {
      const kind = what === 'namespaces' ? 'namespace' : 'table';
      const count = (list: readonly CatalogNode[]): number => list.filter((row) => row.kind === kind).length;
      for (;;) {
        const at = rows.findIndex((row) => row.kind === 'more' && row.what === what);
        const more = rows[at];
        if (more?.kind !== 'more' || count(rows) >= count(before)) break;
        const page = await loadPage(more, context, signal);
        rows = rows.toSpliced(at, 1, ...page);
        if (page.some((row) => row.kind === 'error')) return rows;
      }
    }
    return rows;
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
    this.#drop(top);
    this.#changed.fire(this.#known.get(nodeId(top)));
  }

  /** Drops the rows of a node and of all nodes below it. */
  #drop(top: CatalogNode): void {
    for (const [id, known] of this.#known) {
      if (!isWithin(known, top)) continue;
      for (const kept of [this.#shown, this.#handedOver, this.#stale]) kept.delete(id);
    }
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

  /** Replaces known rows with their existing objects, updated with the new data. */
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

/** Whether a node is out of sight because a node above it is collapsed. */
function isBelowCollapsed(
  node: CatalogNode,
  connections: readonly Connection[],
  collapsed: ReadonlySet<string>,
): boolean {
  const parent = parentOf(node, connections);
  return parent !== undefined && (collapsed.has(nodeId(parent)) || isBelowCollapsed(parent, connections, collapsed));
}

const isSame = (a: readonly CatalogNode[], b: readonly CatalogNode[]): boolean =>
  JSON.stringify(a) === JSON.stringify(b);

const withoutFailedPages = (rows: CatalogNode[]): CatalogNode[] =>
  rows.filter((row) => row.kind !== 'error' || !rows.some((one) => one.kind === 'more' && one.what === row.about));

function toTreeItem(view: NodeView, node: CatalogNode): vscode.TreeItem {
  const { tooltip, command } = view;
  return createTreeItem(view, tooltip, command && { command: command.id, title: command.title, arguments: [node] });
}
