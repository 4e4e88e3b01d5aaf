import type * as vscode from 'vscode';
import type { AskPerson } from '#processes/kernelConversation.ts';
import type { AttachedKernel } from '#processes/kernelProcess.ts';
import type { Log } from '../host/log.ts';
import type { WaitingRow } from './waitingCells.ts';

/**
 * `hasLost`: the notebook had a kernel with variables, which has ended while its window was away. `waiting`: cells that had
 * not begun when it went.
 */
export type StartedKernel = AttachedKernel & { hasLost: boolean; waiting: readonly WaitingRow[] };

/** Starts a kernel whose `db` is the catalog that the notebook uses now, or takes over the one that it has. */
export type StartKernel = (
  notebook: vscode.NotebookDocument,
  cwd: string,
  ask: AskPerson,
  signal: AbortSignal,
) => Promise<StartedKernel>;

export type SessionParts = {
  notebook: vscode.NotebookDocument;
  controller: vscode.NotebookController;
  /** The notebook's folder: relative paths of cells start there. */
  cwd: string;
  start: StartKernel;
  /** Asks the person something for this notebook. */
  ask: AskPerson;
  /** A cell runs in the kernel, so that it would be missed. */
  onUse: (notebook: vscode.NotebookDocument) => void;
  /** The kernel is ended by us; it takes a moment until it is gone. */
  onEnd: (notebook: vscode.NotebookDocument) => void;
  /** Other cells wait than before. */
  onWaiting: (notebook: vscode.NotebookDocument, rows: readonly WaitingRow[]) => void;
  log: Log;
};

export type SessionState = 'none' | 'starting' | 'idle' | 'busy';
