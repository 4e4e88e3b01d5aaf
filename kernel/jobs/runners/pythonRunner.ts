import type { BackfillRequest } from '#shared/jobs/backfill.ts';
import type { BackfillTrial } from '#shared/jobs/jobPlan.ts';
import { runDriver } from '#jobs/driver/driverProcess.ts';
import { runDriverPlan, runDriverTrial, type DriverPlan } from '#jobs/driver/driverResults.ts';
import type { JobSpec } from '#jobs/jobSpec.ts';
import { findPython, needPython, whyNoPython } from '#jobs/python/findPython.ts';
import type { Availability, NewEvent, RunContext, Runner } from './runner.ts';

/**
 * Runs jobs on this machine with the Python driver. The driver adds column files and rewrites no rows. Other processes
 * may append and delete meanwhile. Needs a Python with pylance and access to the storage of the table.
 */
export const localPythonRunner: Runner = {
  name: 'local-python',
  availability,
  run,
};

async function availability(request: BackfillRequest, signal: AbortSignal): Promise<Availability> {
  if (request.function?.kind === 'server')
    return { isPossible: false, reason: 'Only the catalog server can compute this column.' };
  if (request.table.catalog.implementation !== 'dir')
    return { isPossible: false, reason: 'It needs access to the table files, which the server does not provide.' };
  const { found, tried } = await findPython({ named: request.python }, signal);
  return found
    ? { isPossible: true, reason: `It uses ${found.path} with pylance ${found.lance}.` }
    : {
        isPossible: false,
        reason: `${whyNoPython(tried)} Run "lance-catalog python install" to create a Python environment for backfills.`,
      };
}

async function run({ spec, request, emit, log, folder, signal }: RunContext): Promise<void> {
  const { path } = await needPython(request.python, signal);
  await runDriver({
    python: path,
    spec,
    mode: 'run',
    folder,
    // The time is removed, because `emit` sets it again.
    onEvent: ({ at: _at, ...event }) => emit(event satisfies NewEvent),
    log,
    signal,
  });
}

export type PythonTools = {
  readonly python?: string | undefined;
  /** An existing folder. Relative paths in the function start from this folder. */
  readonly folder: string;
  readonly log: (text: string) => void;
  readonly signal: AbortSignal;
};

/** Counts what a run would do. @throws JobError PythonMissing, and the failures of the driver */
export async function planWithPython(spec: JobSpec, tools: PythonTools): Promise<DriverPlan> {
  const { path } = await needPython(tools.python, tools.signal);
  return runDriverPlan({ ...tools, python: path, spec });
}

/**
 * Computes one fragment without writing it, for at most `seconds`, and shows up to `rows` rows.
 * @throws JobError PythonMissing, FunctionFailed if the function fails and its error handling is not set
 */
export async function tryWithPython(
  spec: JobSpec,
  tools: PythonTools & { readonly fragment?: number; readonly rows?: number; readonly seconds?: number },
): Promise<BackfillTrial> {
  const { path } = await needPython(tools.python, tools.signal);
  const { fragment, rows, seconds } = tools;
  return runDriverTrial({ ...tools, python: path, spec, trial: { fragment, rows, seconds } });
}
