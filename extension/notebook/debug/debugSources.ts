import { posix } from 'node:path';
import * as vscode from 'vscode';
import { isRecord } from '#shared/records.ts';

/** Where something is, in the words of the Debug Adapter Protocol. */
export type Source = Record<string, unknown> & { path: string };

const isSource = (value: unknown): value is Source => isRecord(value) && typeof value['path'] === 'string';

/**
 * A copy of a message, or of a part of it, in which every place is what `change` makes of it: the protocol has them in a
 * dozen of its messages, and always under these two names.
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
 * Which cell a path of the kernel's debugger stands for. The kernel names code by what it says, so that cells with the
 * same text have one path, and a cell that is edited and run again gets another.
 */
export class DebugSources {
  readonly #cells = new Map<string, vscode.NotebookCell[]>();
  /** Code that no cell has is shown as the kernel has it; the editor asks for it by a number from 1. */
  readonly #references: string[] = [];
  #prefix: string | undefined;

  /** Paths that begin so are code of cells, and no files. */
  setPrefix(prefix: string): void {
    this.#prefix = prefix;
  }

  /** The kernel has this path for what the cell says now. */
  know(path: string, cell: vscode.NotebookCell): void {
    const others = this.#cells.get(path)?.filter((one) => one !== cell) ?? [];
    this.#cells.set(path, [...others, cell]);
  }

  /** The place as the editor knows it. */
  toEditor(source: Source): object {
    const cells = this.#cells.get(source.path)?.filter(isThere) ?? [];
    const id = isRecord(source['adapterData']) ? source['adapterData']['cell'] : undefined;
    // Of several with the same code the one that ran, which the kernel says where the notebook's cells have ids.
    const cell = cells.find(({ metadata }) => id !== undefined && metadata['id'] === id) ?? cells.at(-1);
    if (cell) return { name: titleOf(cell), path: cell.document.uri.toString() };
    if (this.#prefix === undefined || !source.path.startsWith(this.#prefix)) return source;
    return { ...source, name: 'a cell as it was when it ran', sourceReference: this.#referenceOf(source.path) };
  }

  /** The path that the kernel has for what the editor asks for by a number. */
  pathOf(reference: unknown): string | undefined {
    return typeof reference === 'number' ? this.#references[reference - 1] : undefined;
  }

  #referenceOf(path: string): number {
    const known = this.#references.indexOf(path);
    return known < 0 ? this.#references.push(path) : known + 1;
  }
}

/** Of the addresses of cells. */
export const cellScheme = 'vscode-notebook-cell';

const isThere = (cell: vscode.NotebookCell): boolean => cell.index >= 0 && !cell.notebook.isClosed;

/** `tour.ipynb, cell 3`, counted as a person does. */
export const titleOf = (cell: vscode.NotebookCell): string =>
  `${posix.basename(cell.notebook.uri.path)}, cell ${cell.index + 1}`;

/** The cell of a notebook that the editor names in the protocol. */
export function cellNamed(notebook: vscode.NotebookDocument, name: string): vscode.NotebookCell | undefined {
  if (!name.startsWith(`${cellScheme}:`)) return undefined;
  // Written by another part of the editor, which may escape other characters.
  const uri = vscode.Uri.parse(name).toString();
  return notebook.getCells().find((cell) => cell.document.uri.toString() === uri);
}
