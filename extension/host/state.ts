import type * as vscode from 'vscode';
import type { CheckReport } from '#cluster/result.ts';
import type { SavedView } from '#shared/protocol/panelViews.ts';
import type { ColumnSettings } from '#shared/protocol/webviewMessages.ts';
import type { StoredConnection } from '../connections/connectionRules.ts';
import type { WaitingRow } from '../notebook/queuedCells.ts';

type GlobalState = {
  connections: readonly StoredConnection[];
  rayAddresses: readonly string[];
  showsJobs: boolean;
  savedViews: readonly TableViews[];
  approvedViews: readonly string[];
};
type WorkspaceState = {
  sqlConnections: Readonly<Record<string, string>>;
  sqlHistory: readonly PastQuery[];
  notebookCatalogs: Readonly<Record<string, string>>;
  kernels: Readonly<Record<string, KeptKernelRecord>>;
  clusterReports: readonly CheckReport[];
  treeFolds: Readonly<Record<string, boolean>>;
  tableColumns: readonly RememberedColumns[];
  comparisonKeys: readonly ComparisonKey[];
};

/** A statement that the user ran, with the name of its connection and the time in milliseconds since 1970. */
export type PastQuery = { text: string; connection: string; at: number };

/** What a user has set on the columns of a table. `table` identifies it in every version. */
export type RememberedColumns = { table: string; settings: ColumnSettings };

/** The views of a table that the user has saved. `table` identifies it for every connection with the same target. */
export type TableViews = { readonly table: string; readonly views: readonly SavedView[] };

/** The columns by which the user has compared a table; null for row ids. */
export type ComparisonKey = { table: string; key: string[] | null };

/**
 * A kernel that waits while its window reloads: the kernel's folder, whether a cell has run in the kernel, and the
 * cells that have not started.
 */
export type KeptKernelRecord = { folder: string; isUsed: boolean; waiting?: readonly WaitingRow[] };

/**
 * Reads and writes stored state; no other code does. Another version of the extension may have written the state, so
 * callers check its shape.
 */
export class State {
  readonly #global: vscode.Memento;
  readonly #workspace: vscode.Memento;

  constructor(context: vscode.ExtensionContext) {
    this.#global = context.globalState;
    this.#workspace = context.workspaceState;
  }

  /** Connections belong to the user, not to a folder, so every window has the same connections. */
  connections(): unknown {
    return this.#global.get<unknown>('connections');
  }

  async setConnections(connections: GlobalState['connections']): Promise<void> {
    await this.#global.update('connections' satisfies keyof GlobalState, connections);
  }

  /** Addresses of Ray clusters that the user has connected to; their tokens are in the secret storage. */
  rayAddresses(): unknown {
    return this.#global.get<unknown>('rayAddresses' satisfies keyof GlobalState);
  }

  async setRayAddresses(addresses: GlobalState['rayAddresses']): Promise<void> {
    await this.#global.update('rayAddresses' satisfies keyof GlobalState, addresses);
  }

  showsJobs(): boolean {
    return this.#global.get<unknown>('showsJobs' satisfies keyof GlobalState) === true;
  }

  async setShowsJobs(shows: GlobalState['showsJobs']): Promise<void> {
    await this.#global.update('showsJobs' satisfies keyof GlobalState, shows);
  }

  /** Views of tables belong to the user, so every window has them. */
  savedViews(): unknown {
    return this.#global.get<unknown>('savedViews' satisfies keyof GlobalState);
  }

  async setSavedViews(views: GlobalState['savedViews']): Promise<void> {
    await this.#global.update('savedViews' satisfies keyof GlobalState, views);
  }

  /** Hashes of the view files that the user wants to see without being asked. */
  approvedViews(): unknown {
    return this.#global.get<unknown>('approvedViews' satisfies keyof GlobalState);
  }

  async setApprovedViews(hashes: GlobalState['approvedViews']): Promise<void> {
    await this.#global.update('approvedViews' satisfies keyof GlobalState, hashes);
  }

  /** Names of connections by the URI of the notebook that uses them. */
  notebookCatalogs(): unknown {
    return this.#workspace.get<unknown>('notebookCatalogs' satisfies keyof WorkspaceState);
  }

  async setNotebookCatalogs(names: WorkspaceState['notebookCatalogs']): Promise<void> {
    await this.#workspace.update('notebookCatalogs' satisfies keyof WorkspaceState, names);
  }

  /** Names of connections by the URI of the SQL file that uses them. */
  sqlConnections(): unknown {
    return this.#workspace.get<unknown>('sqlConnections' satisfies keyof WorkspaceState);
  }

  async setSqlConnections(names: WorkspaceState['sqlConnections']): Promise<void> {
    await this.#workspace.update('sqlConnections' satisfies keyof WorkspaceState, names);
  }

  /** The last statements of SQL files, the newest first. They stay on this machine. */
  sqlHistory(): unknown {
    return this.#workspace.get<unknown>('sqlHistory' satisfies keyof WorkspaceState);
  }

  async setSqlHistory(queries: WorkspaceState['sqlHistory']): Promise<void> {
    await this.#workspace.update('sqlHistory' satisfies keyof WorkspaceState, queries);
  }

  /** Kernels by the URI of their notebook. */
  kernels(): unknown {
    return this.#workspace.get<unknown>('kernels' satisfies keyof WorkspaceState);
  }

  async setKernels(kernels: WorkspaceState['kernels']): Promise<void> {
    await this.#workspace.update('kernels' satisfies keyof WorkspaceState, kernels);
  }

  /** The last reports of cluster checks, which contain no secrets. */
  clusterReports(): unknown {
    return this.#workspace.get<unknown>('clusterReports' satisfies keyof WorkspaceState);
  }

  async setClusterReports(reports: WorkspaceState['clusterReports']): Promise<void> {
    await this.#workspace.update('clusterReports' satisfies keyof WorkspaceState, reports);
  }

  /** Whether rows of the catalog tree are expanded, by their ids. */
  treeFolds(): unknown {
    return this.#workspace.get<unknown>('treeFolds' satisfies keyof WorkspaceState);
  }

  async setTreeFolds(folds: WorkspaceState['treeFolds']): Promise<void> {
    await this.#workspace.update('treeFolds' satisfies keyof WorkspaceState, folds);
  }

  /** By which columns tables were compared, the newest last. */
  comparisonKeys(): unknown {
    return this.#workspace.get<unknown>('comparisonKeys' satisfies keyof WorkspaceState);
  }

  async setComparisonKeys(keys: WorkspaceState['comparisonKeys']): Promise<void> {
    await this.#workspace.update('comparisonKeys' satisfies keyof WorkspaceState, keys);
  }

  /** What the user has set on the columns of tables, the newest last. */
  tableColumns(): unknown {
    return this.#workspace.get<unknown>('tableColumns' satisfies keyof WorkspaceState);
  }

  async setTableColumns(tables: WorkspaceState['tableColumns']): Promise<void> {
    await this.#workspace.update('tableColumns' satisfies keyof WorkspaceState, tables);
  }
}
