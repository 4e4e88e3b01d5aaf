import { registerFunction, storedFunction } from '#jobs/definition/registration.ts';
import { accept } from '#jobs/definition/trust.ts';
import type { Table } from '#client/table.ts';
import { onTable } from '#jobs/openTable.ts';
import { isCatalogError } from '#shared/errors.ts';
import type { BackfillRequest } from '#shared/jobs/backfill.ts';
import { isJobError } from '#shared/jobs/jobErrors.ts';

/**
 * Keeps a function that came with a request on the table, so that the next one needs none, and remembers that whoever gave it
 * agrees to it. A server that keeps nothing about columns is no reason not to compute.
 * @throws JobError ColumnMissing, FunctionInvalid; CatalogError
 */
export async function keepFunction(
  { function: fn, table, column }: BackfillRequest,
  signal: AbortSignal,
): Promise<void> {
  if (!fn || fn.kind === 'server') return;
  accept(fn.hash, { name: fn.name, table: table.name });
  await onTable(table, signal, async (opened) => {
    const isKept = async (): Promise<boolean> => (await hashKept(opened, column, signal)) === fn.hash;
    if (await isKept()) return;
    try {
      await registerFunction(opened, column, fn, { signal });
    } catch (error) {
      if (isCatalogError(error, 'Unsupported')) return;
      // Somebody else may have done the same in the same moment.
      if (!(await isKept())) throw error;
    }
  });
}

/** Hash of the function that a column keeps; none where the column is not there yet, or what it keeps is damaged. */
async function hashKept(table: Table, column: string, signal: AbortSignal): Promise<string | undefined> {
  try {
    return (await storedFunction(table, column, signal))?.function.hash;
  } catch (error) {
    if (isJobError(error)) return undefined;
    throw error;
  }
}
