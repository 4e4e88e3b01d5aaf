import type * as vscode from 'vscode';
import type { CellPlace } from '#shared/protocol/kernelMessages.ts';

/** Returns a location that still identifies the cell after a window reload or in another document. */
export function cellLocation(cell: vscode.NotebookCell): CellPlace {
  const id: unknown = cell.metadata['id'];
  return { index: cell.index, ...(typeof id === 'string' && { id }) };
}

/** Finds the cell with the id of `place`, else the nearest cell with the same code. */
export function findCell(
  notebook: vscode.NotebookDocument,
  place: CellPlace,
  code: string,
): vscode.NotebookCell | undefined {
  const cells = notebook.getCells();
  const named = place.id === undefined ? undefined : cells.find((cell) => cell.metadata['id'] === place.id);
  if (named) return named;
  const distance = (cell: vscode.NotebookCell): number => Math.abs(cell.index - place.index);
  return cells
    .filter((cell) => cell.document.getText() === code)
    .toSorted((left, right) => distance(left) - distance(right))[0];
}
