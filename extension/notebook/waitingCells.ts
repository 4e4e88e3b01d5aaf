import type * as vscode from 'vscode';
import { isRecord } from '#shared/records.ts';
import { isCellPlace, type CellPlace } from '#shared/protocol/kernelMessages.ts';
import { findCell, placeOf } from './cellLocation.ts';

/** A cell that was asked for and has not begun, in words that hold after the window was reloaded. */
type WaitingCell = { place: CellPlace; code: string };

/** Cells that were asked for at once: the first that fails ends the row. `hasBegun`: one of it ran, or runs. */
export type WaitingRow = { hasBegun: boolean; cells: WaitingCell[] };

/** The cells of a notebook that wait for others to end. They are kept, so that a window that reloads forgets none. */
export class WaitingCells {
  readonly #keep: (rows: readonly WaitingRow[]) => void;
  #rows: WaitingRow[] = [];
  #timer: NodeJS.Immediate | undefined;
  #kept = '[]';
  #hasLeft = false;

  constructor(keep: (rows: readonly WaitingRow[]) => void) {
    this.#keep = keep;
  }

  /** Puts rows of the window before this one in front. */
  restore(rows: readonly WaitingRow[]): void {
    this.#rows.unshift(...rows);
    // The kernel that they are kept with is another one.
    this.#kept = '[]';
    this.#later();
  }

  add(cells: readonly vscode.NotebookCell[]): WaitingRow {
    const waiting = cells.map((cell) => ({ place: placeOf(cell), code: cell.document.getText() }));
    const row = { hasBegun: false, cells: waiting };
    this.#rows.push(row);
    this.#later();
    return row;
  }

  /** The next cell of a row begins. */
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

  /** The window goes: what waits now is for the next one. */
  leave(): void {
    this.#save();
    this.#hasLeft = true;
  }

  /** A moment later: most cells that are asked for begin at once, and then there is nothing to keep. */
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

/** What was kept, by some version of us. */
export function readWaiting(value: unknown): WaitingRow[] {
  const rows: unknown[] = Array.isArray(value) ? value : [];
  return rows.filter(isWaitingRow).map(({ hasBegun, cells }) => ({ hasBegun, cells: [...cells] }));
}

const isWaitingRow = (row: unknown): row is WaitingRow =>
  isRecord(row) && typeof row['hasBegun'] === 'boolean' && Array.isArray(row['cells']) && row['cells'].every(isWaiting);

const isWaiting = (cell: unknown): boolean =>
  isRecord(cell) && isCellPlace(cell['place']) && typeof cell['code'] === 'string';

/** The cells of rows as they are in a notebook now. `isWhole`: each is there, with the code that was to run. */
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
