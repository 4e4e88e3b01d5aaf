import { resolve } from 'node:path';
import type { ComputedFunction, OnError } from '#shared/jobs/computedFunction.ts';
import type { FunctionSource } from '#shared/jobs/jobMessages.ts';
import type { Table } from '#client/table.ts';
import { loadPart } from '#shared/loadPart.ts';
import { pythonFunction } from './pythonFunction.ts';
import { sqlFunction } from './sqlFunction.ts';

export type FunctionPlace = {
  /** Relative paths of files are from here. */
  readonly folder: string;
  /** The table whose column is computed: it says what a SQL expression gives. */
  readonly table: Table;
  readonly column: string;
  /** In place of what the function says. */
  readonly onError?: OnError | undefined;
};

/**
 * A function as somebody gives it in a file or as an expression, with all that a runner needs of it. Files are read and
 * bundled; nothing of them is run.
 * @throws JobError FunctionInvalid, FunctionNotPortable; CatalogError for a table that can't be asked
 */
export async function readFunction(
  source: FunctionSource,
  { folder, table, column, onError }: FunctionPlace,
  signal: AbortSignal,
): Promise<ComputedFunction> {
  switch (source.kind) {
    case 'sql': {
      const { expression, name = column, version } = source;
      return sqlFunction(table, { name, version, expression, onError }, signal);
    }
    case 'python':
      return pythonFunction(source, resolve(folder, source.file), onError, signal);
    case 'typescript': {
      // With the compiler, which nobody needs for the other kinds.
      const { fileFunction } = await loadPart(() => import('./fileFunction.ts'));
      return fileFunction(source, resolve(folder, source.file), onError, signal);
    }
  }
}
