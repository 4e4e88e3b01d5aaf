import { onCatalog } from '#jobs/openCatalog.ts';
import { CatalogError, isCatalogError } from '#shared/errors.ts';
import { functionForms } from '#shared/jobs/computedFunction.ts';
import { isJobError, JobError } from '#shared/jobs/jobErrors.ts';
import { namesText } from '#shared/markup.ts';
import type { AskedBackfill } from './backfillArguments.ts';

type Place = Pick<AskedBackfill, 'catalog' | 'namespacePath'>;

/** Does what is about a table; where an error advises what notebooks have, it says what a terminal has. */
export async function inTerminalWords<T>(place: Place, signal: AbortSignal, act: () => Promise<T>): Promise<T> {
  try {
    return await act();
  } catch (error) {
    throw await reworded(error, place, signal);
  }
}

async function reworded(error: unknown, place: Place, signal: AbortSignal): Promise<unknown> {
  if (isJobError(error) && error.hint.includes(functionForms)) {
    const hint = error.hint.replace(functionForms, '--sql EXPR, or --file FILE of TypeScript or Python');
    return new JobError(error.kind, error.what, hint, { cause: error });
  }
  if (isCatalogError(error, 'TableNotFound')) {
    return new CatalogError(error.kind, error.toJSON().error, await tablesText(place, signal), { cause: error });
  }
  return error;
}

/** The tables that somebody may have meant. No word of the command line lists them. */
async function tablesText({ catalog, namespacePath }: Place, signal: AbortSignal): Promise<string> {
  try {
    const names = await onCatalog(catalog, signal, (opened) => opened.tableNames(namespacePath, { signal }));
    return names.length === 0 ? 'There are no tables there.' : `There are ${namesText(names)}.`;
  } catch {
    return 'See that its name and --catalog are right.';
  }
}
