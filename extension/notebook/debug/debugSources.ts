import { posix } from 'node:path';
import * as vscode from 'vscode';
import { fieldAt } from '#shared/fields.ts';
import { isRecord } from '#shared/records.ts';

/** A `Source` of the Debug Adapter Protocol that has a path. */
export type Source = Record<string, unknown> & { path: string };

const isSource = (value: unknown): value is Source => isRecord(value) && typeof value['path'] === 'string';

/**
 * Returns a copy of a message, or of a part of it, with `change` applied to every source. About a dozen messages of
 * the protocol have sources, always in a property `source` or `sources`.
 */
export function withSources(part: unknown, change: (source: Source) => object): unknown {
  const copy = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(copy);
    if (!isRecord(value)) return value;
    const entries = Object.entries(value).map(([key, held]) => {
      if (key === 'source' && isSource(held)) return [key, change(held)];
      if (key === 'sources' && Array.isArray(held))
        return [key, held.map((one) => (isSource(one) ? change(one) : one))];
      return [key, copy(held)];
    });
    return Object.fromEntries(entries);
  };
  return copy(part);
}

/**
 * Maps paths of the kernel's debugger to cells. The kernel derives a path from the code. So cells with the same code
 * share one path, and an edited cell that runs again gets another path.
 */
export class DebugSources {
  readonly #cells = new Map<string, vscode.NotebookCell[]>();
  /**
   * Paths of code that no cell contains any longer. VS Code requests this code from the kernel by its number in this
   * list, counted from 1.
   */
  readonly #references: string[] = [];
  #prefix: string | undefined;

  /** Sets the prefix of paths that are code of cells, not files. */
  setPrefix(prefix: string): void {
    this.#prefix = prefix;
  }

  /** Records the kernel's path for the current code of a cell. */
  know(path: string, cell: vscode.NotebookCell): void {
    const others = this.#cells.get(path)?.filter((one) => one !== cell) ?? [];
    this.#cells.set(path, [...others, cell]);
  }

  toEditor(source: Source): object {
    const cells = this.#cells.get(source.path)?.filter(isThere) ?? [];
    const id = fieldAt(source, 'adapterData', 'cell');
    // If several cells have the same code, take the cell that ran. The kernel reports the id of that cell if the cells
    // of the notebook have ids.
    const cell = cells.find(({ metadata }) => id !== undefined && metadata['id'] === id) ?? cells.at(-1);
    if (cell) return { name: titleOf(cell), path: cell.document.uri.toString() };
    if (this.#prefix === undefined || !source.path.startsWith(this.#prefix)) return source;
    return { ...source, name: 'earlier code of a cell', sourceReference: this.#referenceOf(source.path) };
  }

  /** Returns the kernel's path for a source that VS Code requests by number. */
  pathOf(reference: unknown): string | undefined {
    return typeof reference === 'number' ? this.#references[reference - 1] : undefined;
  }

  #referenceOf(path: string): number {
    const known = this.#references.indexOf(path);
    return known < 0 ? this.#references.push(path) : known + 1;
  }
}

export const cellScheme = 'vscode-notebook-cell';

const isThere = (cell: vscode.NotebookCell): boolean => cell.index >= 0 && !cell.notebook.isClosed;

/** Returns a name such as `tour.ipynb, cell 3`. Cells are counted from 1. */
export const titleOf = (cell: vscode.NotebookCell): string =>
  `${posix.basename(cell.notebook.uri.path)}, cell ${cell.index + 1}`;

/** Finds the cell that VS Code names in a protocol message. */
export function cellNamed(notebook: vscode.NotebookDocument, name: string): vscode.NotebookCell | undefined {
  if (!name.startsWith(`${cellScheme}:`)) return undefined;
  // Normalize the URI, because another part of VS Code wrote it and may escape other characters.
  const uri = vscode.Uri.parse(name).toString();
  return notebook.getCells().find((cell) => cell.document.uri.toString() === uri);
}
