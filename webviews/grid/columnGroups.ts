import { pageRows } from '#shared/mime.ts';
import type { ColumnInfo } from '#shared/protocol/webviewMessages.ts';
import type { GridColumn } from './columnTree.ts';

/** Columns that are read together. Positions in the table. */
export type ColumnGroup = {
  readonly columns: readonly number[];
  /** Images, blobs and long vectors, which must not delay the other columns. */
  readonly isHeavy: boolean;
  /** Bytes of a row of the group; `undefined` if only a look at rows can tell. */
  readonly rowBytes: number | undefined;
  /** Maximum number of rows that are read at once. */
  readonly maxRows: number;
};

/** Maximum number of columns that are read together. A wide screen shows about thirty. */
const maxColumns = 32;
/** A column of at least this many bytes a row is heavy. */
const heavyBytes = 1_024;

/** Bytes that a page should have at most. */
const pageBytes = 4 * 2 ** 20;
/** The same for images and other heavy values. The first ones of a screen arrive while the others are read. */
const heavyPageBytes = 2 ** 20;

/** Maximum number of blobs that are read at once: about those that a screen shows. */
const maxBlobs = 32;

/** Rows of the first page of columns whose width is not known. */
export const probeRows = 8;

/**
 * The group of a table whose columns can't be read apart. Its pages have as many rows as pages may have.
 * @param columns with the fields that are nested in structs
 */
export const wholeGroup = (columns: readonly unknown[]): ColumnGroup => ({
  columns: columns.map((_, column) => column),
  isHeavy: false,
  rowBytes: 0,
  maxRows: pageRows,
});

/**
 * Groups columns: light ones with their neighbors, heavy ones alone.
 * @param some the columns to group; all by default
 */
export function columnGroups(
  columns: readonly Pick<ColumnInfo, 'type' | 'blob'>[],
  some: readonly number[] = [...columns.keys()],
): ColumnGroup[] {
  const heavy: ColumnGroup[] = [];
  const light: number[] = [];
  for (const column of some) {
    const { type, blob } = columns[column]!;
    const bytes = bytesOfType(type);
    if (blob !== undefined) heavy.push({ columns: [column], isHeavy: true, rowBytes: undefined, maxRows: maxBlobs });
    else if (bytes === 'heavy' || (bytes !== undefined && bytes >= heavyBytes))
      heavy.push({
        columns: [column],
        isHeavy: true,
        rowBytes: bytes === 'heavy' ? undefined : bytes,
        maxRows: pageRows,
      });
    else light.push(column);
  }
  const groups: ColumnGroup[] = [];
  for (let at = 0; at < light.length; at += maxColumns) {
    const neighbors = light.slice(at, at + maxColumns);
    const sizes = neighbors.map((column) => bytesOfType(columns[column]!.type));
    const isKnown = sizes.every((size) => typeof size === 'number');
    const rowBytes = isKnown ? sizes.reduce((a, b) => a + b, 0) : undefined;
    groups.push({ columns: neighbors, isHeavy: false, rowBytes, maxRows: pageRows });
  }
  return [...groups, ...heavy];
}

/** Groups the columns of a table and, apart from them, the fields of each expanded struct, which isn't read as a whole. */
export function treeGroups(columns: readonly GridColumn[], expanded: readonly number[]): ColumnGroup[] {
  const isExpanded = new Set(expanded);
  const top = [...columns.keys()].filter((column) => columns[column]!.parent === undefined);
  return [top, ...expanded.map((struct) => columns[struct]!.fields)].flatMap((some) =>
    columnGroups(
      columns,
      some.filter((column) => !isExpanded.has(column)),
    ),
  );
}

/** Returns how many rows a page should have. */
export const rowsOfPage = (rowBytes: number, maxRows: number = pageRows, isHeavy = false): number =>
  Math.max(1, Math.min(maxRows, Math.floor((isHeavy ? heavyPageBytes : pageBytes) / Math.max(1, rowBytes))));

/**
 * Returns the bytes of a value by its type, as formatted by `typeText`: a number, `undefined` if values differ, or
 * 'heavy' if they differ and are usually large.
 */
function bytesOfType(type: string): number | 'heavy' | undefined {
  const list = /^fixed_size_list<(.*)>\[(\d+)\]$/.exec(type);
  if (list) {
    const item = bytesOfType(list[1]!);
    return typeof item === 'number' ? item * Number(list[2]) : item;
  }
  const binary = /^fixed_size_binary\[(\d+)\]/.exec(type);
  if (binary) return Number(binary[1]);
  if (/\b(large_)?binary(_view)?\b/.test(type)) return 'heavy';
  if (/^(list|large_list|map|struct|dictionary|dense_union|sparse_union|(large_)?utf8)/.test(type)) return undefined;
  const bits = /^(?:u?int|decimal|time)(\d+)/.exec(type);
  if (bits) return Number(bits[1]) / 8;
  const plain = { bool: 1, halffloat: 2, float: 4, double: 8, date32: 4, date64: 8, null: 0 }[type];
  return plain ?? (/^(timestamp|duration|interval)/.test(type) ? 16 : undefined);
}
