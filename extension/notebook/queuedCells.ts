import type * as vscode from 'vscode';
import { isBoolean, isString, listOf, shape, shapeFor } from '#shared/shape.ts';
import { isCellPlace, type CellPlace } from '#shared/protocol/kernelMessages.ts';
import { findCell, cellLocation } from './cellLocation.ts';

/** A requested cell that has not started, in a form that stays valid after a window reload. */
type WaitingCell = { place: CellPlace; code: string };

/**
 * The cells of one run request. If a cell fails, the cells after it do not run. `hasBegun`: at least one cell has
 * started.
 */
export type WaitingRow = { hasBegun: boolean; cells: WaitingCell[] };

/** The cells of a notebook that wait for other cells to end. They are stored, so that a window reload loses no cell. */
export class WaitingCells {
  readonly #keep: (rows: readonly WaitingRow[]) => void;
  #rows: WaitingRow[] = [];
  #timer: NodeJS.Immediate | undefined;
  #kept = '[]';
  #hasLeft = false;

  constructor(keep: (rows: readonly WaitingRow[]) => void) {
    this.#keep = keep;
  }

  restore(rows: readonly WaitingRow[]): void {
    this.#rows.unshift(...rows);
    // The rows must be stored again, because they now belong to another kernel.
    this.#kept = '[]';
    this.#later();
  }

  add(cells: readonly vscode.NotebookCell[]): WaitingRow {
    const waiting = cells.map((cell) => ({ place: cellLocation(cell), code: cell.document.getText() }));
    const row = { hasBegun: false, cells: waiting };
    this.#rows.push(row);
    this.#later();
    return row;
  }

  /** Removes the next cell of a row, because it starts now. */
  begin(row: WaitingRow): void {
    row.hasBegun = true;
    row.cells.shift();
    this.#later();
  }

  end(row: WaitingRow): void {
    this.#rows = this.#rows.filter((one) => one !== row);
    this.#later();
  }

  clear(): void {
    this.#rows = [];
    this.#later();
  }

  /** Stores the waiting cells for the next window and ignores later changes. */
  leave(): void {
    this.#save();
    this.#hasLeft = true;
  }

  /** Stores the rows a moment later, because most requested cells start immediately and need not be stored. */
  #later(): void {
    this.#timer ??= setImmediate(() => this.#save());
  }

  #save(): void {
    clearImmediate(this.#timer);
    this.#timer = undefined;
    const rows = this.#rows.filter(({ cells }) => cells.length > 0);
    const kept = JSON.stringify(rows);
    if (this.#hasLeft || kept === this.#kept) return;
    this.#kept = kept;
    this.#keep(structuredClone(rows));
  }
}

/** Reads stored rows, which another version of this extension may have written. */
export function readWaiting(value: unknown): WaitingRow[] {
  const rows: unknown[] = Array.isArray(value) ? value : [];
  return rows.filter(isWaitingRow).map(({ hasBegun, cells }) => ({ hasBegun, cells: [...cells] }));
}

const isWaitingRow = shapeFor<WaitingRow>({
  hasBegun: isBoolean,
  cells: listOf(shape({ place: isCellPlace, code: isString })),
});

/** Returns the current cells of rows. `isWhole`: all cells still exist with the code that was requested. */
export function findWaiting(
  notebook: vscode.NotebookDocument,
  rows: readonly WaitingRow[],
): { cells: vscode.NotebookCell[][]; isWhole: boolean } {
  let isWhole = true;
  const cells = rows.map((row) =>
    row.cells.flatMap(({ place, code }) => {
      const cell = findCell(notebook, place, code);
      if (cell?.document.getText() !== code) isWhole = false;
      return cell ? [cell] : [];
    }),
  );
  return { cells, isWhole };
}
