import type { BackfillRequest } from '#shared/jobs/backfill.ts';
import { runLocal } from '#jobs/local/runLocal.ts';
import type { Availability, Runner, RunContext } from './runner.ts';

/**
 * Runs jobs with what is here anyway: expressions by the engine or the server of the catalog, functions in TypeScript in
 * processes of this Node. Values are written back by a key.
 */
export const localRunner: Runner = {
  name: 'local',
  availability: (request) => Promise.resolve(availability(request)),
  run: (context: RunContext) => runLocal(context),
};

function availability({ function: fn }: BackfillRequest): Availability {
  if (fn?.kind === 'python') {
    return { isPossible: false, reason: 'It runs SQL and TypeScript, and the function is written in Python.' };
  }
  if (fn?.kind === 'server')
    return { isPossible: false, reason: 'Only the server of the catalog can compute this column.' };
  return { isPossible: true, reason: 'It needs nothing that is not here, and writes rows back by a key.' };
}
