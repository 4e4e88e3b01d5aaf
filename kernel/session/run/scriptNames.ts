const cellName = /^cell-(\d+)(?:-\d+)?\.ts$/;

/**
 * The name of the script that a cell becomes.
 * @param again tells apart those that have the number of a cell which has one already
 */
export const scriptOfCell = (count: number, again?: number): string =>
  again === undefined ? `cell-${count}.ts` : `cell-${count}-${again}.ts`;

/** The number of the cell that a script with this name is of. */
export function cellCountOf(script: string): number | undefined {
  const [, count] = cellName.exec(script) ?? [];
  return count === undefined ? undefined : Number(count);
}
