import * as vscode from 'vscode';
import type { WaitingRow } from './waitingCells.ts';

/** The name of a notebook's file, by which a person knows it. */
export const nameOf = ({ uri }: vscode.NotebookDocument): string => uri.path.split('/').at(-1) ?? '';

/** The kernel of a notebook ended while no cell ran. */
export function sayDied(notebook: vscode.NotebookDocument, reason: string): void {
  void vscode.window.showWarningMessage(`${nameOf(notebook)}: ${reason} The next cell starts another.`);
}

/** The kernel of a notebook ended where no window could say so. */
export function sayLost(notebook: vscode.NotebookDocument): void {
  void vscode.window.showInformationMessage(
    `The kernel of ${nameOf(notebook)} ended while its window was away, and its variables with it. Run the cells again that you need.`,
  );
}

/** Cells that waited were not run, since they are not what they were; the person may run those that are there still. */
export async function sayNotRun(
  notebook: vscode.NotebookDocument,
  rows: readonly WaitingRow[],
  cells: readonly vscode.NotebookCell[],
  run: (cells: vscode.NotebookCell[]) => void,
): Promise<void> {
  const count = rows.reduce((sum, row) => sum + row.cells.length, 0);
  const what = count === 1 ? 'A cell that waited' : `${count} cells that waited`;
  const why = 'since the notebook has changed meanwhile';
  const message = `${nameOf(notebook)}: ${what} when the window was reloaded did not run, ${why}.`;
  const button = cells.length === 1 ? 'Run It' : 'Run Them';
  const buttons = cells.length > 0 ? [button] : [];
  if ((await vscode.window.showWarningMessage(message, ...buttons)) !== button) return;
  // One that was deleted since has no place any more.
  run(cells.filter((cell) => cell.index >= 0));
}
