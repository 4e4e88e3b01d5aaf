const cellName = /^cell-(\d+)(?:-\d+)?\.ts$/;

/**
 * Returns the script name of a cell.
 * @param again distinguishes scripts that share the number of a cell
 */
export const scriptOfCell = (count: number, again?: number): string =>
  again === undefined ? `cell-${count}.ts` : `cell-${count}-${again}.ts`;

export function cellCountOf(script: string): number | undefined {
  const [, count] = cellName.exec(script) ?? [];
  return count === undefined ? undefined : Number(count);
}
