import * as vscode from 'vscode';
import { isAbort } from '#shared/errors.ts';
import { loadChildren, loadPage, type LoaderContext } from './loaders.ts';
import {
  isWithin,
  nodeId,
  parentOf,
  placeOf,
  type Ability,
  type CatalogNode,
  type Connection,
  type NodeOf,
} from './node.ts';
import { renderNode, type NodeView } from './render.ts';

/** What the tree needs besides what its loaders do. */
export type TreeContext = LoaderContext & {
  /** What the catalog of a connection can do; everything where nobody says. */
  abilities?(connection: string): ReadonlySet<Ability>;
};

type Loading = { node: CatalogNode; controller: AbortController; rows: Promise<CatalogNode[]> };

/** The tree of the view: what was loaded, and the events that ask for it anew. Loading and looks are elsewhere. */
export class CatalogTree implements vscode.TreeDataProvider<CatalogNode>, vscode.Disposable {
  readonly #connections: () => readonly Connection[];
  readonly #context: TreeContext;
  readonly #changed = new vscode.EventEmitter<CatalogNode | undefined>();
  readonly onDidChangeTreeData = this.#changed.event;

  /** What the editor shows under a node. It answers the next question only where all of it lasts, see `lasts`. */
  readonly #shown = new Map<string, CatalogNode[]>();
  /** Nodes whose rows changed here, so that the editor is given what is in `#shown` this once. */
  readonly #handedOver = new Set<string>();
  /** Collapsed nodes to ask again about when they are expanded: the editor itself keeps rows until a refresh. */
  readonly #stale = new Set<string>();
  /** The editor finds a row by the very object it was given, so events must carry that one. */
  readonly #known = new Map<string, CatalogNode>();
  /** What is being asked for. A refresh above it aborts it, and its late reply is dropped. */
  readonly #loading = new Map<string, Loading>();

  constructor(connections: () => readonly Connection[], context: TreeContext) {
    this.#connections = connections;
    this.#context = context;
  }

  getTreeItem(node: CatalogNode): vscode.TreeItem {
    const { connection } = placeOf(node);
    const item = toTreeItem(renderNode(node, this.#context.abilities?.(connection)), node);
    // Where there is only one catalog, that is what a person wants to see. The editor remembers it being closed.
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
    // A page that failed is told once; the pages before it stay, and its "more" row asks for it again.
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

  /** Puts the next page where the "more" row is; one that fails goes before it, the row being the way to ask again. */
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

  /** The person closed a node. What may be otherwise by now is asked for again when the node is opened. */
  collapsed(node: CatalogNode): void {
    const id = nodeId(node);
    if (this.#shown.get(id)?.every(lasts) === false) this.#stale.add(id);
  }

  /** The person opened a node. Fires at most once for each time it was closed, so that no answer asks again by itself. */
  expanded(node: CatalogNode): void {
    const id = nodeId(node);
    if (!this.#stale.delete(id)) return;
    this.#handedOver.delete(id);
    this.#changed.fire(this.#known.get(id));
  }

  /** Something else can be done with what is under a connection: its rows are drawn again, nothing is asked again. */
  redraw(connection: string): void {
    let top: CatalogNode | undefined;
    for (const [id, known] of this.#known) {
      if (placeOf(known).connection !== connection) continue;
      if (known.kind === 'connection') top = known;
      if (this.#shown.has(id)) this.#handedOver.add(id);
    }
    if (top) this.#changed.fire(top);
  }

  /** Forgets what is under a node, or everything, and has the editor ask again for what it shows. */
  refresh(node?: CatalogNode): void {
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
  }

  /** One request at a time for a row: who asks meanwhile waits for the same answer. */
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

  /** Gives a row that is known already as the same object, with what it says now. */
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

/** Whether a row stays true until a refresh. An error may be mended and an empty place filled while nobody tells us. */
const lasts = (node: CatalogNode): boolean => node.kind !== 'error' && node.kind !== 'empty';

const withoutFailedPages = (rows: CatalogNode[]): CatalogNode[] =>
  rows.filter((row) => row.kind !== 'error' || !rows.some((one) => one.kind === 'more' && one.what === row.about));

function toTreeItem(view: NodeView, node: CatalogNode): vscode.TreeItem {
  const { Collapsed, None } = vscode.TreeItemCollapsibleState;
  const item = new vscode.TreeItem(view.label, view.state === 'collapsed' ? Collapsed : None);
  item.id = view.id;
  item.description = view.description;
  item.tooltip = view.tooltip;
  item.contextValue = view.contextValue;
  item.accessibilityInformation = { label: view.spoken };
  item.iconPath = new vscode.ThemeIcon(
    view.icon.id,
    view.icon.color === undefined ? undefined : new vscode.ThemeColor(view.icon.color),
  );
  if (view.command) item.command = { command: view.command.id, title: view.command.title, arguments: [node] };
  return item;
}
