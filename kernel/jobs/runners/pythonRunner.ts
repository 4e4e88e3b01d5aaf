import type { BackfillRequest } from '#shared/jobs/backfill.ts';
import type { BackfillTrial } from '#shared/jobs/jobPlan.ts';
import { runDriver } from '#jobs/driver/driverProcess.ts';
import { askPlan, askTrial, type DriverPlan } from '#jobs/driver/driverResults.ts';
import type { JobSpec } from '#jobs/jobSpec.ts';
import { findPython, needPython, whyNoPython } from '#jobs/python/findPython.ts';
import type { Availability, NewEvent, RunContext, Runner } from './runner.ts';

/**
 * Runs jobs on this machine by the Python driver: column files for each fragment, nothing rewritten, committed beside what
 * others append and delete. Needs a Python with pylance, and the storage of the table within reach.
 */
export const localPythonRunner: Runner = {
  name: 'local-python',
  availability,
  run,
};

async function availability(request: BackfillRequest, signal: AbortSignal): Promise<Availability> {
  if (request.function?.kind === 'server')
    return { isPossible: false, reason: 'Only the server of the catalog can compute this column.' };
  if (request.table.catalog.implementation !== 'dir')
    return { isPossible: false, reason: 'The tables of a server are reached through it alone, not by their files.' };
  const { found, tried } = await findPython({ named: request.python }, signal);
  return found
    ? { isPossible: true, reason: `${found.path} has pylance ${found.lance}.` }
    : { isPossible: false, reason: `${whyNoPython(tried)} "lance-catalog python install" makes one that has.` };
}

async function run({ spec, request, emit, log, folder, signal }: RunContext): Promise<void> {
  const { path } = await needPython(request.python, signal);
  await runDriver({
    python: path,
    spec,
    mode: 'run',
    folder,
    // It gets its time anew where it is told, a moment later.
    onEvent: ({ at: _at, ...event }) => emit(event satisfies NewEvent),
    log,
    signal,
  });
}

/** Where a plan or a trial runs, and with what. */
export type PythonTools = {
  readonly python?: string | undefined;
  /** A folder that exists: the function's relative paths start there. */
  readonly folder: string;
  readonly log: (text: string) => void;
  readonly signal: AbortSignal;
};

/** What a run of this runner would do, counted. @throws JobError PythonMissing, and as the driver says */
export async function planWithPython(spec: JobSpec, tools: PythonTools): Promise<DriverPlan> {
  const { path } = await needPython(tools.python, tools.signal);
  return askPlan({ ...tools, python: path, spec });
}

/**
 * One fragment computed and written nowhere, for at most `seconds`; up to `rows` of it are shown.
 * @throws JobError PythonMissing, FunctionFailed where the function fails and says nothing of errors
 */
export async function tryWithPython(
  spec: JobSpec,
  tools: PythonTools & { readonly fragment?: number; readonly rows?: number; readonly seconds?: number },
): Promise<BackfillTrial> {
  const { path } = await needPython(tools.python, tools.signal);
  const { fragment, rows, seconds } = tools;
  return askTrial({ ...tools, python: path, spec, trial: { fragment, rows, seconds } });
}
