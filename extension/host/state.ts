import type * as vscode from 'vscode';
import type { CheckReport } from '#cluster/result.ts';
import type { StoredConnection } from '../connections/connectionRules.ts';
import type { WaitingRow } from '../notebook/waitingCells.ts';

type GlobalState = { connections: readonly StoredConnection[]; rayAddresses: readonly string[]; showsJobs: boolean };
type WorkspaceState = {
  lastConnection: string;
  kernels: Readonly<Record<string, KeptKernelRecord>>;
  clusterReports: readonly CheckReport[];
};

/**
 * A notebook's kernel that waits for a window which reloads: its folder, whether there is something to lose, and the cells
 * that have not begun.
 */
export type KeptKernelRecord = { folder: string; isUsed: boolean; waiting?: readonly WaitingRow[] };

/** The only reader and writer of stored state. What it gives was written by some version of us: callers check its shape. */
export class State {
  readonly #global: vscode.Memento;
  readonly #workspace: vscode.Memento;

  constructor(context: vscode.ExtensionContext) {
    this.#global = context.globalState;
    this.#workspace = context.workspaceState;
  }

  /** Connections belong to the person, not to a folder: the same ones are in every window. */
  connections(): unknown {
    return this.#global.get<unknown>('connections');
  }

  async setConnections(connections: GlobalState['connections']): Promise<void> {
    await this.#global.update('connections' satisfies keyof GlobalState, connections);
  }

  /** Addresses of Rays that the person has connected to; their tokens are among the secrets. */
  rayAddresses(): unknown {
    return this.#global.get<unknown>('rayAddresses' satisfies keyof GlobalState);
  }

  async setRayAddresses(addresses: GlobalState['rayAddresses']): Promise<void> {
    await this.#global.update('rayAddresses' satisfies keyof GlobalState, addresses);
  }

  /** Whether the view of jobs is among the others. */
  showsJobs(): boolean {
    return this.#global.get<unknown>('showsJobs' satisfies keyof GlobalState) === true;
  }

  async setShowsJobs(shows: GlobalState['showsJobs']): Promise<void> {
    await this.#global.update('showsJobs' satisfies keyof GlobalState, shows);
  }

  /** The connection that was used last in this folder. */
  lastConnection(): string | undefined {
    const name = this.#workspace.get<unknown>('lastConnection' satisfies keyof WorkspaceState);
    return typeof name === 'string' ? name : undefined;
  }

  /** Kernels by the address of their notebook. */
  kernels(): unknown {
    return this.#workspace.get<unknown>('kernels' satisfies keyof WorkspaceState);
  }

  async setKernels(kernels: WorkspaceState['kernels']): Promise<void> {
    await this.#workspace.update('kernels' satisfies keyof WorkspaceState, kernels);
  }

  /** What the last checks of clusters found, without secrets: none is in a report. */
  clusterReports(): unknown {
    return this.#workspace.get<unknown>('clusterReports' satisfies keyof WorkspaceState);
  }

  async setClusterReports(reports: WorkspaceState['clusterReports']): Promise<void> {
    await this.#workspace.update('clusterReports' satisfies keyof WorkspaceState, reports);
  }

  async setLastConnection(name: string): Promise<void> {
    await this.#workspace.update('lastConnection' satisfies keyof WorkspaceState, name);
  }
}
