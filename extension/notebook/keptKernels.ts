import type * as vscode from 'vscode';
import { isRecord } from '#shared/records.ts';
import type { KeptKernelRecord, State } from '../host/state.ts';
import type { WaitingRow } from './waitingCells.ts';

/** Which kernels this folder's windows have started, so that a window that reloads finds its own again. */
export class KeptKernels {
  readonly #state: State;
  readonly #kernels: Map<string, KeptKernelRecord>;

  constructor(state: State) {
    this.#state = state;
    this.#kernels = new Map(Object.entries(readRecords(state.kernels())));
  }

  get(notebook: vscode.Uri): KeptKernelRecord | undefined {
    return this.#kernels.get(notebook.toString());
  }

  /** The notebooks that have one. */
  notebooks(): string[] {
    return [...this.#kernels.keys()];
  }

  set(notebook: vscode.Uri, record: KeptKernelRecord): void {
    this.#kernels.set(notebook.toString(), record);
    this.#save();
  }

  /** A cell runs in the notebook's kernel, so that it would be missed. */
  use(notebook: vscode.Uri): void {
    const record = this.get(notebook);
    if (record && !record.isUsed) this.set(notebook, { ...record, isUsed: true });
  }

  /** Which cells of the notebook have not begun. */
  wait(notebook: vscode.Uri, waiting: readonly WaitingRow[]): void {
    const record = this.get(notebook);
    if (record) this.set(notebook, { ...record, waiting });
  }

  move(from: vscode.Uri, to: vscode.Uri): void {
    const record = this.get(from);
    this.#kernels.delete(from.toString());
    if (record) this.set(to, record);
  }

  /** The notebook's kernel is being ended by us: the next one is not to look for it. */
  drop(notebook: vscode.Uri): void {
    if (this.#kernels.delete(notebook.toString())) this.#save();
  }

  /** The kernel in that folder has ended. */
  forget(folder: string): void {
    for (const [notebook, record] of this.#kernels) if (record.folder === folder) this.#kernels.delete(notebook);
    this.#save();
  }

  #save(): void {
    void this.#state.setKernels(Object.fromEntries(this.#kernels));
  }
}

function readRecords(value: unknown): Record<string, KeptKernelRecord> {
  const entries = isRecord(value) ? Object.entries(value) : [];
  return Object.fromEntries(entries.filter((entry): entry is [string, KeptKernelRecord] => isKept(entry[1])));
}

const isKept = (value: unknown): value is KeptKernelRecord =>
  isRecord(value) && typeof value['folder'] === 'string' && typeof value['isUsed'] === 'boolean';
