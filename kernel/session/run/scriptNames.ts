const cellName = /^cell-(\d+)\.ts$/;

/** The name of the script that a cell becomes. */
export const scriptOfCell = (count: number): string => `cell-${count}.ts`;

/** The number of the cell that a script with this name is of. */
export function cellCountOf(script: string): number | undefined {
  const [, count] = cellName.exec(script) ?? [];
  return count === undefined ? undefined : Number(count);
}
