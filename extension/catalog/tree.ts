import * as vscode from 'vscode';
import { isAbort } from '#shared/errors.ts';
import { loadChildren, loadPage, type LoaderContext } from './loaders.ts';
import { isWithin, nodeId, parentOf, type CatalogNode, type Connection, type NodeOf } from './node.ts';
import { renderNode, type NodeView } from './render.ts';

type Loading = { node: CatalogNode; controller: AbortController; rows: Promise<CatalogNode[]> };

/** The tree of the view: a cache of loaded rows and the events that empty it. Loading and looks are elsewhere. */
export class CatalogTree implements vscode.TreeDataProvider<CatalogNode>, vscode.Disposable {
  readonly #connections: () => readonly Connection[];
  readonly #context: LoaderContext;
  readonly #changed = new vscode.EventEmitter<CatalogNode | undefined>();
  readonly onDidChangeTreeData = this.#changed.event;

  readonly #children = new Map<string, CatalogNode[]>();
  /** The editor finds a row by the very object it was given, so events must carry that one. */
  readonly #known = new Map<string, CatalogNode>();
  /** What is being asked for. A refresh above it aborts it, and its late reply is dropped. */
  readonly #loading = new Map<string, Loading>();

  constructor(connections: () => readonly Connection[], context: LoaderContext) {
    this.#connections = connections;
    this.#context = context;
  }

  getTreeItem(node: CatalogNode): vscode.TreeItem {
    return toTreeItem(renderNode(node), node);
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
    const cached = this.#children.get(id);
    if (cached) return cached;
    return this.#load(id, node, async (signal) => {
      const rows = await loadChildren(node, this.#context, signal);
      // An error is shown once and asked for again the next time; everything else stays until a refresh.
      if (!signal.aborted && !rows.some((row) => row.kind === 'error')) this.#children.set(id, rows);
      return rows;
    });
  }

  /** Puts the next page where the "more" row is; one that fails goes before it, the row being the way to ask again. */
  async loadMore(row: NodeOf<'more'>): Promise<void> {
    const parent = this.getParent(row);
    if (!parent) return;
    const id = nodeId(row);
    await this.#load(id, row, async (signal) => {
      const page = await loadPage(row, this.#context, signal);
      const rows: CatalogNode[] | undefined = this.#children.get(nodeId(parent))?.filter((one) => one.kind !== 'error');
      const at = rows?.findIndex((one) => nodeId(one) === id) ?? -1;
      if (signal.aborted || !rows || at < 0) return page;
      const failed = page.some((one) => one.kind === 'error');
      this.#children.set(nodeId(parent), rows.toSpliced(at, failed ? 0 : 1, ...page));
      this.#changed.fire(parent);
      return page;
    });
  }

  /** Forgets what is under a node, or everything, and has the editor ask again for what it shows. */
  refresh(node?: CatalogNode): void {
    const top = node && (hasChildren(node) ? node : this.getParent(node));
    for (const { controller, node: loading } of this.#loading.values()) {
      if (!top || isWithin(loading, top)) controller.abort();
    }
    if (!top) {
      this.#children.clear();
      this.#known.clear();
      this.#changed.fire(undefined);
      return;
    }
    for (const [id, known] of this.#known) if (isWithin(known, top)) this.#children.delete(id);
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
        return this.#remember(await run(controller.signal));
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

  #remember(rows: CatalogNode[]): CatalogNode[] {
    for (const row of rows) this.#known.set(nodeId(row), row);
    return rows;
  }
}

const hasChildren = (node: CatalogNode): boolean =>
  node.kind === 'connection' || node.kind === 'namespace' || node.kind === 'table';

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
