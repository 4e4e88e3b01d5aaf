import { existsSync } from 'node:fs';
import { basename } from 'node:path';
import { runProgram } from '#processes/runProgram.ts';
import { messageOf } from '#shared/errors.ts';
import { MagicError, type MagicRun } from './magicTypes.ts';

/** Time for a process to end by itself after an interrupt of the cell. */
const graceMs = 1000;

/**
 * Runs a program to its end, without input. Its output becomes output of the cell as it arrives. Interrupting the cell
 * ends the program and its child processes.
 * @throws MagicError if the program can't be started
 */
export async function runChild(
  program: string,
  args: readonly string[],
  { signal, cwd }: { signal: AbortSignal; cwd?: string },
): Promise<{ readonly code: number | null; readonly signal: NodeJS.Signals | null }> {
  try {
    return await runProgram(program, args, {
      cwd,
      signal,
      graceMs,
      keepsOutput: true,
      read(stdout, stderr) {
        stdout.setEncoding('utf8').on('data', (text: string) => process.stdout.write(text));
        stderr.setEncoding('utf8').on('data', (text: string) => process.stderr.write(text));
      },
    });
  } catch (error) {
    signal.throwIfAborted();
    // If the folder is missing, the system reports that the program is missing, so the folder is checked here.
    if (cwd !== undefined && !existsSync(cwd))
      throw new MagicError(`The folder "${cwd}" no longer exists. Change to another folder with %cd.`, {
        cause: error,
      });
    throw new MagicError(`Can't start "${program}": ${messageOf(error)}`, { cause: error });
  }
}

/** `%sh` and `%%sh` */
export const sh: MagicRun = async ({ rest, body, signal }) => {
  if (body !== undefined && rest !== '') throw new MagicError('Write the commands on the lines below %%sh.');
  const commands = body ?? rest;
  if (commands.trim() === '') throw new MagicError('There is no command: write it after %sh, or below %%sh.');
  const [program, ...options] = shellOf();
  const end = await runChild(program, [...options, commands], { signal });
  // Other code reports an interrupt, and code 0 is a success, so there is nothing to report here.
  if (signal.aborted || end.code === 0) return;
  throw new MagicError(
    end.code === null
      ? `The shell was terminated by ${end.signal ?? 'a signal'}.`
      : `The shell ended with exit code ${end.code}.`,
  );
};

/** Login shells of accounts without shell access. */
const noShells: ReadonlySet<string> = new Set(['false', 'nologin']);

/** Returns the user's shell, with the option for a command string. */
function shellOf(): [program: string, ...options: string[]] {
  if (process.platform === 'win32') return ['powershell.exe', '-NoProfile', '-NonInteractive', '-Command'];
  const own = process.env['SHELL'];
  return [own === undefined || own === '' || noShells.has(basename(own)) ? '/bin/sh' : own, '-c'];
}
