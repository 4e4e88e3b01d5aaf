import { readFileSync } from 'node:fs';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { tryFileLock } from '#processes/fileLock.ts';
import { makeFolder } from '#processes/files.ts';
import { runProgram } from '#processes/runProgram.ts';
import { JobError } from '#shared/jobs/jobErrors.ts';
import { dataFolder } from '#processes/userFolders.ts';
import { probePython } from './probe.ts';
import { environmentSize, isAtLeast, minimumPython, pylance } from './pythonPackages.ts';

/** Returns the folder of the product's own virtual environment, which may not exist. */
export const environmentFolder = (): string => join(dataFolder(), 'python');

export const environmentPython = (): string => pythonIn(environmentFolder());

export const pythonIn = (folder: string): string =>
  process.platform === 'win32' ? join(folder, 'Scripts', 'python.exe') : join(folder, 'bin', 'python');

const wanted = `${pylance.name}==${pylance.version}`;
const stampOf = (folder: string): string => join(folder, 'lance-catalog.installed');

/** Whether the environment exists and is complete. */
export function hasPythonEnvironment(): boolean {
  try {
    return readFileSync(stampOf(environmentFolder()), 'utf8') === wanted;
  } catch {
    return false;
  }
}

/**
 * Creates the environment with pylance, unless it is complete. It takes about 450 MB, so the user must have agreed.
 * @param onProgress receives one line of progress at a time
 * @returns the path of the interpreter
 * @throws JobError PythonMissing if no Python can create it, StorageFull, Busy while another process creates it
 */
export async function makePythonEnvironment(signal: AbortSignal, onProgress: (line: string) => void): Promise<string> {
  if (hasPythonEnvironment()) return environmentPython();
  const folder = environmentFolder();
  await tryFileLock(`${folder}.lock`, busy, async () => {
    if (!hasPythonEnvironment()) await makeAnew(folder, signal, onProgress);
  });
  return environmentPython();
}

const busy = (): JobError =>
  new JobError('Busy', 'Another process is creating the Python environment.', 'Wait until it has finished.');

async function makeAnew(folder: string, signal: AbortSignal, onProgress: (line: string) => void): Promise<void> {
  const base = await basePython(signal);
  await rm(folder, { recursive: true, force: true });
  try {
    // Other users must not be able to write into the folder, regardless of the umask, because programs of the folder
    // run.
    makeFolder(folder);
    onProgress(`Creating a Python environment in ${folder} …`);
    await step(base, ['-m', 'venv', folder], signal, onProgress);
    onProgress(`Installing ${wanted} there, about ${environmentSize} MB…`);
    const pip = ['-m', 'pip', 'install', '--disable-pip-version-check', '--no-input', '--progress-bar', 'off', wanted];
    await step(environmentPython(), pip, signal, onProgress);
    const { problem } = await probePython(environmentPython(), signal);
    if (problem !== undefined) throw new JobError('PythonMissing', `The new environment can't be used. ${problem}`, '');
    await writeFile(stampOf(folder), wanted, { mode: 0o644 });
  } catch (error) {
    // The folder is removed after a failure, because an incomplete environment can't be used.
    await rm(folder, { recursive: true, force: true });
    throw error;
  }
}

/** Removes the environment. Running jobs that use it fail. */
export const removePythonEnvironment = async (): Promise<void> =>
  rm(environmentFolder(), { recursive: true, force: true });

async function basePython(signal: AbortSignal): Promise<string> {
  const names = process.platform === 'win32' ? ['python'] : ['python3', 'python'];
  const problems: string[] = [];
  for (const name of names) {
    // oxlint-disable-next-line no-await-in-loop -- the second is checked only if the first is not usable
    const { python, problem } = await probePython(name, signal);
    if (python !== undefined && isAtLeast(python, minimumPython)) return name;
    problems.push(`${name}: ${problem ?? ''}`);
  }
  throw new JobError(
    'PythonMissing',
    `Can't create a Python environment: Python ${minimumPython.join('.')} or newer is not installed. ${problems.join(' ')}`,
    'Install Python from python.org or with the package manager of the system.',
  );
}

async function step(
  program: string,
  args: readonly string[],
  signal: AbortSignal,
  onProgress: (line: string) => void,
): Promise<void> {
  const last: string[] = [];
  const { code } = await runProgram(program, args, {
    signal,
    read(...streams) {
      for (const input of streams)
        createInterface({ input }).on('line', (line) => {
          last.push(line);
          if (last.length > 20) last.shift();
          onProgress(line);
        });
    },
  });
  signal.throwIfAborted();
  if (code === 0) return;
  const said = last.join('\n');
  if (/No space left|Errno 28/.test(said))
    throw new JobError(
      'StorageFull',
      `There is no space left for the environment in ${environmentFolder()}.`,
      'Free some space.',
    );
  throw new JobError(
    'PythonMissing',
    `"${program} ${args.slice(0, 3).join(' ')}" failed: ${last.at(-1) ?? 'no output'}`,
    'Install python3-venv if the system packages it separately, check that the package index can be reached, and try again.',
  );
}
