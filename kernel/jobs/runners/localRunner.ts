import type { BackfillRequest } from '#shared/jobs/backfill.ts';
import { isJobError } from '#shared/jobs/jobErrors.ts';
import { findKey } from '#jobs/local/keyColumn.ts';
import { runLocal } from '#jobs/local/runLocal.ts';
import { scanRows } from '#jobs/local/scanRows.ts';
import { openSource } from '#jobs/local/source.ts';
import type { Availability, Runner } from './runner.ts';

/**
 * Runs jobs without other software: the engine or server evaluates SQL, and processes of this Node.js run TypeScript.
 * Values are written back to the rows with the same key.
 */
export const localRunner: Runner = {
  name: 'local',
  availability: (request, signal) => availability(request, signal),
  run: (context) => runLocal(context),
};

async function availability(request: BackfillRequest, signal: AbortSignal): Promise<Availability> {
  const { function: fn, column, readVersion, key } = request;
  if (fn?.kind === 'python') return no('It runs SQL and TypeScript functions, but the function is written in Python.');
  if (fn?.kind === 'server') return no('Only the catalog server can compute this column.');
  await using source = await openSource(request.table, { column, readVersion, function: fn }, signal);
  try {
    const found = await findKey(source.pinned, key, column, signal);
    // Only the first batch is read, because it shows whether the server returns row addresses.
    for await (const _rows of scanRows({ table: source.pinned, scope: 'TRUE', inputs: [] }, signal)) break;
    return { isPossible: true, reason: `It needs no other software and writes rows back by "${found.name}".` };
  } catch (error) {
    if (isJobError(error)) return no(error.message);
    throw error;
  }
}

const no = (reason: string): Availability => ({ isPossible: false, reason });
