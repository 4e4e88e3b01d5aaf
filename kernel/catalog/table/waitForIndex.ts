import type { CallOptions } from '#catalog/arguments/options.ts';
import { checkTexts } from '#catalog/arguments/tableArguments.ts';
import { wait } from '#processes/wait.ts';
import { CatalogError, isCatalogError } from '#shared/errors.ts';
import type { Table } from './table.ts';

/** Pause between two checks of an index, in milliseconds. It doubles up to the maximum. */
const pause = { first: 50, maximum: 2_000 } as const;

/** @throws CatalogError InvalidInput (13) */
export function checkSeconds(call: string, option: string, seconds: number): void {
  if (Number.isFinite(seconds) && seconds > 0) return;
  const what = `${call}: ${String(seconds)} is not a valid ${option}.`;
  throw new CatalogError('InvalidInput', what, 'Pass a number of seconds above 0.');
}

/**
 * Waits until indexes exist and cover all rows.
 * @throws CatalogError InvalidInput (13), and after `timeoutSeconds` IndexNotFound (6) or ServiceUnavailable (17)
 */
export async function waitForIndex(
  table: Pick<Table, 'name' | 'indexStats'>,
  names: string | readonly string[],
  timeoutSeconds: number,
  { signal }: CallOptions,
): Promise<void> {
  const waiting = checkTexts('waitForIndex', 'index', typeof names === 'string' ? [names] : names);
  checkSeconds('waitForIndex', 'timeoutSeconds', timeoutSeconds);
  const end = performance.now() + timeoutSeconds * 1000;
  let delay: number = pause.first;
  for (const name of waiting) {
    for (;;) {
      const left = await countUnindexed(table, name, { signal });
      if (left === 0) break;
      const rest = end - performance.now();
      if (rest <= 0) throw notReady(table.name, name, left, timeoutSeconds);
      await wait(Math.min(delay, rest), signal);
      delay = Math.min(delay * 2, pause.maximum);
    }
  }
}

/** Returns the number of rows that an index lacks; `undefined` if there is no such index. */
async function countUnindexed(
  table: Pick<Table, 'indexStats'>,
  name: string,
  options: CallOptions,
): Promise<number | undefined> {
  try {
    return (await table.indexStats(name, options)).numUnindexedRows;
  } catch (error) {
    if (isCatalogError(error, 'IndexNotFound')) return undefined;
    throw error;
  }
}

function notReady(table: string, name: string, left: number | undefined, seconds: number): CatalogError {
  if (left === undefined) {
    const what = `Table "${table}" had no index "${name}" for ${seconds} seconds.`;
    return new CatalogError('IndexNotFound', what, 'Create it with createIndex(), or see listIndices() for the names.');
  }
  const what = `The index "${name}" of table "${table}" lacks ${left} rows after ${seconds} seconds.`;
  return new CatalogError('ServiceUnavailable', what, 'Add them with optimize(), or wait longer.');
}
