import type { Table } from '#catalog/table/table.ts';
import { withCatalog } from '#jobs/openCatalog.ts';
import { isCatalogError, isAbort, messageOf } from '#shared/errors.ts';
import { isJobError } from '#shared/jobs/jobErrors.ts';
import type { ComputedFunction } from '#shared/jobs/computedFunction.ts';
import { displayPath } from '#shared/names.ts';
import { pageTerminal } from './pageTerminal.ts';
import { askTerminal, canAsk } from './terminal.ts';
import type { BackfillArguments } from './backfillArguments.ts';

const loadParts = () => import('#jobs/entry.ts');

const withTable = <T>(asked: BackfillArguments, signal: AbortSignal, use: (table: Table) => Promise<T>): Promise<T> =>
  withCatalog(asked.catalog, signal, async (catalog) =>
    use(await catalog.openTable(asked.name, [...asked.namespacePath], { signal })),
  );

/** Reads and bundles the function that the arguments name; `undefined` if they name none. */
export async function givenFunction(
  asked: BackfillArguments,
  signal: AbortSignal,
): Promise<ComputedFunction | undefined> {
  const { source, folder, column } = asked;
  if (!source) return undefined;
  const { readFunction } = await loadParts();
  return withTable(asked, signal, (table) => readFunction(source, { folder, table, column }, signal));
}

/**
 * Runs an action that may run a function stored on the table. If the function was not accepted on this machine, the
 * user first sees it and is prompted.
 */
export async function withConsent<T>(asked: BackfillArguments, signal: AbortSignal, act: () => Promise<T>): Promise<T> {
  const { column } = asked;
  const parts = await loadParts();
  return parts.withConsent(
    {
      table: displayPath(asked.namespacePath, asked.name),
      column,
      stored: () => withTable(asked, signal, (table) => parts.storedFunction(table, column, signal)),
      ask: async (text) => {
        if (!canAsk()) {
          console.error(text);
          throw new Error('There is no terminal to prompt in.');
        }
        const wasShown = await pageTerminal(text, signal);
        return wasShown && askTerminal('Run this function on this machine, now and later?', signal);
      },
      howToAllow: (hash) => `To allow it in a script, add --allow-stored-code ${hash}.`,
    },
    act,
  );
}

/** Converts an error for JSON output; `Aborted` or `Internal` if it is not an error of this product. */
export const describeJobFailure = (error: unknown): { code: string; message: string; hint: string } => {
  if (isJobError(error)) return { code: error.kind, message: error.what, hint: error.hint };
  if (isCatalogError(error)) return { code: error.kind, message: messageOf(error), hint: error.hint };
  return { code: isAbort(error) ? 'Aborted' : 'Internal', message: messageOf(error), hint: '' };
};
