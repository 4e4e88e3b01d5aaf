import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { JobError } from '#shared/jobs/jobErrors.ts';
import { probePython } from './probe.ts';
import { environmentPython, pythonIn } from './pythonEnvironment.ts';
import { pylance } from './pythonPackages.ts';

type FoundPython = { readonly path: string; readonly python: string; readonly lance: string };

/** An interpreter that was checked and can't be used. */
type TriedPython = {
  readonly path: string;
  /** Where the path was found, for messages. */
  readonly from: string;
  readonly problem: string;
};

type Candidate = { readonly path: string; readonly from: string };

const isWindows = process.platform === 'win32';
/** Conda uses another location on Windows. */
const pythonInConda = (folder: string): string => (isWindows ? join(folder, 'python.exe') : pythonIn(folder));

/**
 * Returns the interpreters to check. If the user names one by the option or `LANCE_CATALOG_PYTHON`, it is the only one.
 * Otherwise the list has the interpreters of this machine, the most specific first.
 */
function candidates(named: string | undefined, env: NodeJS.ProcessEnv): readonly Candidate[] {
  if (named) return [{ path: named, from: 'as given' }];
  const ofEnvironment = env['LANCE_CATALOG_PYTHON'];
  if (ofEnvironment) return [{ path: ofEnvironment, from: 'of $LANCE_CATALOG_PYTHON' }];
  const venv = env['VIRTUAL_ENV'];
  const conda = env['CONDA_PREFIX'];
  const own = environmentPython();
  return [
    // The product's own environment is listed only if it was installed.
    ...(existsSync(own) ? [{ path: own, from: 'the environment of Lance Catalog' }] : []),
    ...(venv ? [{ path: pythonIn(venv), from: 'the active virtual environment' }] : []),
    ...(conda ? [{ path: pythonInConda(conda), from: 'the active conda environment' }] : []),
    { path: isWindows ? 'python' : 'python3', from: 'on PATH' },
  ];
}

/**
 * Finds the first interpreter that can run the driver, and the problems of the interpreters before it.
 * @throws only an AbortError
 */
export async function findPython(
  options: { readonly named?: string | undefined; readonly env?: NodeJS.ProcessEnv },
  signal: AbortSignal,
): Promise<{ readonly found: FoundPython | undefined; readonly tried: readonly TriedPython[] }> {
  const tried: TriedPython[] = [];
  for (const { path, from } of candidates(options.named, options.env ?? process.env)) {
    // Interpreters are checked one after another, because each check takes a second on two processors.
    // oxlint-disable-next-line no-await-in-loop
    const { python, lance, problem } = await probePython(path, signal);
    if (problem === undefined && python !== undefined && lance !== undefined)
      return { found: { path, python, lance }, tried };
    tried.push({ path, from, problem: problem ?? 'It is not a Python interpreter.' });
  }
  return { found: undefined, tried };
}

export const whyNoPython = (tried: readonly TriedPython[]): string =>
  `No Python on this machine has the package ${pylance.name}. ${tried.map(({ path, from, problem }) => `${path} (${from}): ${problem}`).join(' ')}`;

/** @throws JobError PythonMissing with the interpreters that were checked */
export async function needPython(named: string | undefined, signal: AbortSignal): Promise<FoundPython> {
  const { found, tried } = await findPython({ named }, signal);
  if (found) return found;
  throw new JobError(
    'PythonMissing',
    whyNoPython(tried),
    `Run "lance-catalog python install" to create one, or set the option "python" to one that has it (python3 -m pip install ${pylance.name}==${pylance.version}).`,
  );
}
