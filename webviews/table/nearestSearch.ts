import type { PanelNearest, PanelTable, VectorOrigin } from '#shared/protocol/webviewMessages.ts';
import { isAbort, messageOf } from '#shared/errors.ts';
import { columnNameProblem } from '#shared/fieldPath.ts';
import {
  looksLikeVectors,
  parseVectorType,
  type VectorType,
  vectorProblem,
  whyUnsearchable,
} from '#shared/vectorTypes.ts';
import type { CellValue } from '../grid/cellValue.ts';
import type { GridColumn } from '../grid/columnTree.ts';
import type { GridFrame } from '../grid/frame.ts';
import type { MenuItem } from '../grid/menu.ts';
import type { NearestDialogDeps } from './nearestDialog.ts';

/** The number of rows of a first search. */
const firstRows = 100;

export type NearestSearchDeps = {
  readonly table: PanelTable;
  readonly frame: Pick<GridFrame, 'cell' | 'columns' | 'read'>;
  /** Whether the rows are the whole table in its order, so that the number of a row names it. */
  readonly isWhole: boolean;
  /** Shows the rows that a search finds. Returns why it can't; `undefined` if they are shown. */
  readonly find: (nearest: PanelNearest) => Promise<string | undefined>;
  /** Says why the search by a cell can't be done. */
  readonly fail: (message: string) => void;
  /** Opens the box for a vector. */
  readonly openBox: (box: Omit<NearestDialogDeps, 'parent'>) => void;
  readonly focusRows: () => void;
};

/** What the user typed into the box of a column. A box that is opened again begins with it. */
const typedBefore = new Map<string, string>();

/** The searches that the menus of cells and columns offer. */
export class NearestSearch {
  readonly #deps: NearestSearchDeps;

  constructor(deps: NearestSearchDeps) {
    this.#deps = deps;
  }

  /** Returns the entries of the menu of a cell. */
  cellMenu(row: number, column: number): MenuItem[] {
    const type = searchedType(this.#deps.frame.columns[column]!);
    if (type === undefined) return [];
    if (typeof type === 'string') return [disabled(type)];
    const cell = this.#deps.frame.cell(row, column);
    if (cell?.kind === 'null') return [disabled('the vector is null')];
    if (cell?.kind === 'vector' && cell.values.some((value) => !Number.isFinite(value)))
      return [disabled('the vector has NaN or infinity')];
    const run = async (): Promise<void> => {
      const problem = await this.#find(column, type, { row });
      if (problem !== undefined) this.#deps.fail(problem);
    };
    return [{ label: 'Find Nearest Rows', startsGroup: true, run: () => void run() }];
  }

  /** Returns the entries of the menu of a column. */
  columnMenu(column: number): MenuItem[] {
    const info = this.#deps.frame.columns[column]!;
    const type = searchedType(info);
    if (type === undefined) return [];
    if (typeof type === 'string') return [disabled(type)];
    return [{ label: 'Find Nearest Rows…', startsGroup: true, run: () => this.#open(column, info.name, type) }];
  }

  #open(column: number, name: string, type: VectorType): void {
    const { table, openBox, focusRows } = this.#deps;
    const typedKey = JSON.stringify([table.title, name]);
    openBox({
      column: name,
      type,
      numRows: table.numRows,
      typed: typedBefore.get(typedKey) ?? '',
      keep: (typed) => typedBefore.set(typedKey, typed),
      find: (wanted) => this.#find(column, type, wanted),
      onClosed: focusRows,
    });
  }

  async #find(
    column: number,
    type: VectorType,
    wanted: { row: number } | { vectors: number[][] },
  ): Promise<string | undefined> {
    const { table, find } = this.#deps;
    const name = table.columns[column]!.name;
    if (!('row' in wanted))
      return find({ column: name, vectors: wanted.vectors, from: { kind: 'pasted' }, k: firstRows });
    try {
      const value = await this.#deps.frame.read(wanted.row, column, new AbortController().signal);
      const vectors = vectorsOf(value);
      const problem =
        value.kind === 'null' ? `The vector of row ${wanted.row + 1} is null` : vectorProblem(vectors, type);
      if (problem !== undefined) return `${problem}.`;
      return await find({ column: name, vectors, from: this.#origin(wanted.row), k: firstRows });
    } catch (error) {
      return isAbort(error) ? undefined : messageOf(error);
    }
  }

  #origin(row: number): VectorOrigin {
    const { isWhole, table } = this.#deps;
    return isWhole ? { kind: 'row', row, version: table.version } : { kind: 'view' };
  }
}

const doNothing = (): void => {};

const disabled = (reason: string): MenuItem => ({
  label: `Can't Find Nearest: ${reason}`,
  startsGroup: true,
  isDisabled: true,
  run: doNothing,
});

/** Returns the type of a column that can be searched, or why it can't; `undefined` for columns without vectors. */
function searchedType({ name, type, parent }: GridColumn): VectorType | string | undefined {
  if (!looksLikeVectors(type)) return undefined;
  // A search reads the vectors of a column, not of a field in one.
  if (parent !== undefined) return 'it is a field of a struct';
  return columnNameProblem(name) ?? parseVectorType(type) ?? whyUnsearchable(type);
}

/** Returns the vectors of a cell: one, or those of a list. */
function vectorsOf(value: CellValue): number[][] {
  if (value.kind === 'vector') return [Array.from(value.values)];
  if (value.kind !== 'list') return [];
  return Array.from({ length: value.size }, (_, at) => vectorsOf(value.item(at).value)).flat();
}
