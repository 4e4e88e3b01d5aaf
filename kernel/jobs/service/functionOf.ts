import { engineFunction } from '#jobs/definition/engineFunction.ts';
import { columnOf } from '#jobs/definition/registration.ts';
import { readStored } from '#jobs/definition/storedFunction.ts';
import { checkAccepted } from '#jobs/definition/trust.ts';
import { onTable } from '#jobs/openTable.ts';
import { serverFunction } from '#jobs/runners/rest/serverFunction.ts';
import type { BackfillRequest } from '#shared/jobs/backfill.ts';
import { functionForms, type ComputedFunction } from '#shared/jobs/computedFunction.ts';
import { isJobError, JobError } from '#shared/jobs/jobErrors.ts';

/**
 * The function that a request computes with: the one that is given, else the one that the table keeps, else, on a server,
 * the one that the server alone knows.
 * @throws JobError ColumnMissing, FunctionInvalid, FunctionMissing; FunctionNotAccepted for one that is to run and that
 * nobody here has agreed to; CatalogError for a table that can't be read
 */
export async function functionOf(
  { function: given, table, column, allowStoredCode }: BackfillRequest,
  { isToRun }: { readonly isToRun: boolean },
  signal: AbortSignal,
): Promise<ComputedFunction> {
  signal.throwIfAborted();
  if (given) return given;
  return onTable(table, signal, async (opened) => {
    const field = await columnOf(opened, column, signal).catch((error: unknown) => {
      if (!isJobError(error) || error.kind !== 'ColumnMissing') throw error;
      const hint = `${error.hint} To make the column, give its function: ${functionForms}.`;
      throw new JobError('ColumnMissing', error.what, hint, { cause: error });
    });
    const stored = readStored(field);
    if (stored) {
      if (isToRun) checkAccepted(stored.function, table.name, allowStoredCode);
      return stored.function;
    }
    if (engineFunction(field)) {
      const what = `The column "${column}" of "${table.name}" is computed by the engine itself.`;
      throw new JobError('FunctionMissing', what, `Refresh it: table.refreshColumn("${column}").`);
    }
    if (table.catalog.implementation === 'rest') return serverFunction(field);
    const what = `The column "${column}" of "${table.name}" has no function that computes it.`;
    throw new JobError('FunctionMissing', what, `Give one: ${functionForms}.`);
  });
}

/**
 * Looks whether the column of a job is still there, which this runner does not make.
 * @throws JobError ColumnMissing; CatalogError for a table that can't be read
 */
export async function checkColumn({ table, column }: BackfillRequest, signal: AbortSignal): Promise<void> {
  await onTable(table, signal, async (opened) => {
    const { fields } = await opened.schema({ signal });
    if (fields.some(({ name }) => name === column)) return;
    const what = `The column "${column}" of "${table.name}" was dropped since the job began.`;
    throw new JobError('ColumnMissing', what, 'Begin a new backfill with its function, which makes the column.');
  });
}
