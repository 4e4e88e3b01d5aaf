import type * as vscode from 'vscode';
import { isRecord } from '#shared/records.ts';
import { isBoolean, isString, shape } from '#shared/shape.ts';
import type { KeptKernelRecord, State } from '../host/state.ts';
import type { WaitingRow } from './queuedCells.ts';

/** The kernels that windows of this folder have started, so that a reloaded window finds its kernels. */
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

  notebooks(): string[] {
    return [...this.#kernels.keys()];
  }

  set(notebook: vscode.Uri, record: KeptKernelRecord): void {
    this.#kernels.set(notebook.toString(), record);
    this.#save();
  }

  /** Records that a cell ran in the notebook's kernel, so that the user is informed if the kernel is lost. */
  use(notebook: vscode.Uri): void {
    const record = this.get(notebook);
    if (record && !record.isUsed) this.set(notebook, { ...record, isUsed: true });
  }

  wait(notebook: vscode.Uri, waiting: readonly WaitingRow[]): void {
    const record = this.get(notebook);
    if (record) this.set(notebook, { ...record, waiting });
  }

  move(from: vscode.Uri, to: vscode.Uri): void {
    const record = this.get(from);
    this.#kernels.delete(from.toString());
    if (record) this.set(to, record);
  }

  /** Removes the record of a kernel that this extension is ending, so that the next start does not look for it. */
  drop(notebook: vscode.Uri): void {
    if (this.#kernels.delete(notebook.toString())) this.#save();
  }

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

/** Checks a stored record. `readWaiting` checks its queued cells later. */
const isKept = shape({ folder: isString, isUsed: isBoolean });
