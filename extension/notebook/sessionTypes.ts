import type * as vscode from 'vscode';
import type { InputHandler } from '#processes/kernelConversation.ts';
import type { AttachedKernel } from '#processes/kernelProcess.ts';
import type { Log } from '../host/log.ts';
import type { WaitingRow } from './queuedCells.ts';

/**
 * `hasLost`: the notebook had a kernel with variables, which ended while its window was closed. `waiting`: cells that
 * had not started when the window closed.
 */
export type StartedKernel = AttachedKernel & { hasLost: boolean; waiting: readonly WaitingRow[] };

/** Starts a kernel whose `db` is the notebook's current catalog, or reattaches the notebook's waiting kernel. */
export type StartKernel = (
  notebook: vscode.NotebookDocument,
  cwd: string,
  ask: InputHandler,
  signal: AbortSignal,
) => Promise<StartedKernel>;

export type SessionDeps = {
  notebook: vscode.NotebookDocument;
  controller: vscode.NotebookController;
  /** The notebook's folder, the base of relative paths in cells. */
  cwd: string;
  start: StartKernel;
  /** Prompts the user for input that a cell of this notebook requests. */
  ask: InputHandler;
  /** Called when a cell runs in the kernel. From then on the user must be informed if the kernel is lost. */
  onUse: (notebook: vscode.NotebookDocument) => void;
  /** Called when this extension starts to end the kernel. The end takes a moment. */
  onEnd: (notebook: vscode.NotebookDocument) => void;
  /** Called when the list of waiting cells has changed. */
  onWaiting: (notebook: vscode.NotebookDocument, rows: readonly WaitingRow[]) => void;
  log: Log;
};

export type SessionState = 'none' | 'starting' | 'idle' | 'busy';
