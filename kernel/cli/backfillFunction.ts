import type { Table } from '#client/table.ts';
import { onCatalog } from '#jobs/openCatalog.ts';
import { isCatalogError, isAbort, messageOf } from '#shared/errors.ts';
import { isJobError, JobError } from '#shared/jobs/jobErrors.ts';
import type { ComputedFunction } from '#shared/jobs/computedFunction.ts';
import { displayPath } from '#shared/names.ts';
import { askTerminal, canAsk } from './askTerminal.ts';
import type { AskedBackfill } from './backfillArguments.ts';

const loadParts = () => import('#jobs/parts.ts');

/** Opens the table of a backfill for as long as `use` takes. */
const withTable = <T>(asked: AskedBackfill, signal: AbortSignal, use: (table: Table) => Promise<T>): Promise<T> =>
  onCatalog(asked.catalog, signal, async (catalog) =>
    use(await catalog.openTable(asked.name, [...asked.namespacePath], { signal })),
  );

/** The function that the arguments give, made ready to travel; `undefined` where they give none. */
export async function givenFunction(asked: AskedBackfill, signal: AbortSignal): Promise<ComputedFunction | undefined> {
  const { source, folder, column } = asked;
  if (!source) return undefined;
  const { readFunction } = await loadParts();
  return withTable(asked, signal, (table) => readFunction(source, { folder, table, column }, signal));
}

/**
 * Does what may need a stored function, and where that was not accepted on this machine yet shows it and asks.
 * @throws JobError FunctionNotAccepted, with what to do, where nobody can be asked or the answer is no
 */
export async function withConsent<T>(asked: AskedBackfill, signal: AbortSignal, act: () => Promise<T>): Promise<T> {
  try {
    return await act();
  } catch (error) {
    if (!isJobError(error) || error.kind !== 'FunctionNotAccepted') throw error;
    await askConsent(asked, error, signal);
    return act();
  }
}

async function askConsent(asked: AskedBackfill, refused: JobError, signal: AbortSignal): Promise<void> {
  const { accept, consentText, storedFunction } = await loadParts();
  const found = await withTable(asked, signal, (table) => storedFunction(table, asked.column, signal));
  if (!found) throw refused;
  const { function: stored, author } = found;
  const table = displayPath(asked.namespacePath, asked.name);
  console.error(consentText(stored, { author, table, column: asked.column }));
  const allow = `To allow it in a script, add --allow-stored-code ${stored.hash}.`;
  if (!canAsk()) throw new JobError(refused.kind, refused.what, allow, { cause: refused });
  if (!(await askTerminal('Run this function on this machine, now and later?', signal)))
    throw new JobError(refused.kind, `The function of ${table}.${asked.column} was not accepted.`, allow);
  accept(stored.hash, { name: stored.name, table });
}

/** What a person is told of a failure, and whether it is one that the person can read. */
export const toldFailure = (error: unknown): { code: string; message: string; hint: string } => {
  if (isJobError(error)) return { code: error.kind, message: error.what, hint: error.hint };
  if (isCatalogError(error)) return { code: error.kind, message: messageOf(error), hint: error.hint };
  return { code: isAbort(error) ? 'Aborted' : 'Internal', message: messageOf(error), hint: '' };
};
