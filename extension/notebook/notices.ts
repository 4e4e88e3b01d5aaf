import type * as vscode from 'vscode';
import { showInformation, showWarning } from '../host/messages.ts';
import type { WaitingRow } from './queuedCells.ts';

export const notebookTitle = ({ uri }: vscode.NotebookDocument): string => uri.path.split('/').at(-1) ?? '';

/** Warns that a kernel ended while no cell ran. */
export function showKernelDied(notebook: vscode.NotebookDocument, reason: string): void {
  void showWarning(`${notebookTitle(notebook)}: ${reason} The next cell starts a new kernel.`);
}

/** Reports that a kernel ended while its window was away. */
export function showKernelLost(notebook: vscode.NotebookDocument): void {
  void showInformation(
    `The kernel of ${notebookTitle(notebook)} ended while its window was closed, so its variables are lost. Run the cells that you need again.`,
  );
}

/** Warns that waiting cells did not run because the notebook has changed. Offers to run the cells that still exist. */
export async function showCellsNotRun(
  notebook: vscode.NotebookDocument,
  rows: readonly WaitingRow[],
  cells: readonly vscode.NotebookCell[],
  run: (cells: vscode.NotebookCell[]) => void,
): Promise<void> {
  const count = rows.reduce((sum, row) => sum + row.cells.length, 0);
  const what = count === 1 ? 'A waiting cell' : `${count} waiting cells`;
  const why = 'because the notebook has changed';
  const message = `${notebookTitle(notebook)}: ${what} did not run after the window was reloaded, ${why}.`;
  const button = cells.length === 1 ? 'Run It' : 'Run Them';
  const buttons = cells.length > 0 ? [button] : [];
  if ((await showWarning(message, ...buttons)) !== button) return;
  // Cells deleted since then have a negative index.
  run(cells.filter((cell) => cell.index >= 0));
}
