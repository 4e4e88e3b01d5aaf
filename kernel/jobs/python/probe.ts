import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { isRecord } from '#shared/records.ts';
import { isAtLeast, minimumPylance, minimumPython, pylance } from './pythonPackages.ts';

const run = promisify(execFile);

/** Milliseconds. Importing lance from a cold disk reads 150 MB. */
const timeout = 60_000;

// Removes the empty entry of `sys.path`. It stands for the current folder, and modules of that folder must not run.
const script = `
import json, sys
sys.path = [path for path in sys.path if path]
said = {'executable': sys.executable, 'python': '.'.join(map(str, sys.version_info[:3])), 'lance': None, 'problem': None}
try:
  import lance
  said['lance'] = lance.__version__
except ModuleNotFoundError as error:
  said['problem'] = None if error.name == 'lance' else str(error)
except Exception as error:
  said['problem'] = f'{type(error).__name__}: {error}'
print(json.dumps(said))
`;

type Probe = {
  readonly python: string | undefined;
  readonly lance: string | undefined;
  readonly problem: string | undefined;
};

/** Reads the versions of an interpreter. @throws only an AbortError */
export async function probePython(path: string, signal: AbortSignal): Promise<Probe> {
  let said: unknown;
  try {
    const { stdout } = await run(path, ['-c', script], {
      timeout,
      windowsHide: true,
      signal,
      env: { ...process.env, LANCE_LOG: 'error' },
    });
    said = JSON.parse(stdout);
  } catch (error) {
    signal.throwIfAborted();
    return { python: undefined, lance: undefined, problem: `It does not run: ${firstLine(error)}.` };
  }
  if (!isRecord(said) || typeof said['python'] !== 'string')
    return { python: undefined, lance: undefined, problem: 'It is not a Python interpreter.' };
  const lance = typeof said['lance'] === 'string' ? said['lance'] : undefined;
  return { python: said['python'], lance, problem: problemOf(said['python'], lance, said['problem']) };
}

function problemOf(python: string, lance: string | undefined, problem: unknown): string | undefined {
  if (!isAtLeast(python, minimumPython))
    return `It is Python ${python}, and ${minimumPython.join('.')} or newer is required.`;
  if (lance === undefined)
    return typeof problem === 'string'
      ? `Its package ${pylance.name} does not load: ${problem}`
      : `It has no package ${pylance.name}.`;
  if (isAtLeast(lance, minimumPylance)) return undefined;
  return `Its ${pylance.name} is ${lance}, and ${minimumPylance.join('.')} or newer is required.`;
}

function firstLine(error: unknown): string {
  const { code, killed, message } = error as { code?: unknown; killed?: boolean; message?: string };
  if (code === 'ENOENT') return 'the program does not exist';
  if (killed === true) return `it did not finish within ${timeout / 1000} s`;
  return (message ?? String(error)).trim().split('\n').at(-1) ?? 'it ended at once';
}
