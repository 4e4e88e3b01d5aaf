import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { basename } from 'node:path';
import { messageOf } from '#shared/errors.ts';
import { MagicError, type MagicRun } from './magicTypes.ts';

/** Time for a process to end by itself after an interrupt of the cell. */
const graceMs = 1000;
/** Time to wait for output after a process has ended, since a background process may keep the streams open. */
const restMs = 1000;

type ChildEnd = { code: number | null; signal: NodeJS.Signals | null };

/**
 * Runs a program to its end, without input. Its output becomes output of the cell as it arrives. Interrupting the cell
 * ends the program and its child processes.
 * @throws MagicError if it can't be started
 */
export async function runChild(
  program: string,
  args: readonly string[],
  { signal, cwd }: { signal: AbortSignal; cwd?: string },
): Promise<ChildEnd> {
  signal.throwIfAborted();
  const child = spawn(program, args, {
    stdio: ['ignore', 'pipe', 'pipe'],
    // A separate process group, which can be ended as a whole.
    detached: process.platform !== 'win32',
    windowsHide: true,
    ...(cwd !== undefined && { cwd }),
  });
  child.stdout.setEncoding('utf8').on('data', (text: string) => process.stdout.write(text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => process.stderr.write(text));
  const stop = () => endGroup(child);
  const kill = () => killGroup(child, 'SIGKILL');
  signal.addEventListener('abort', stop, { once: true });
  process.once('exit', kill);
  try {
    return await ended(child);
  } catch (error) {
    // The system reports the program as missing instead of the folder.
    if (cwd !== undefined && !existsSync(cwd))
      throw new MagicError(`The folder "${cwd}" no longer exists. Change to another folder with %cd.`, {
        cause: error,
      });
    throw new MagicError(`Can't start "${program}": ${messageOf(error)}`, { cause: error });
  } finally {
    signal.removeEventListener('abort', stop);
    process.off('exit', kill);
  }
}

function ended(child: ChildProcess): Promise<ChildEnd> {
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code, signal) => resolve({ code, signal }));
    child.once('exit', (code, signal) => setTimeout(() => resolve({ code, signal }), restMs).unref());
  });
}

function endGroup(child: ChildProcess): void {
  killGroup(child, 'SIGINT');
  setTimeout(() => {
    if (child.exitCode === null && child.signalCode === null) killGroup(child, 'SIGKILL');
  }, graceMs).unref();
}

function killGroup({ pid, exitCode, signalCode }: ChildProcess, signal: NodeJS.Signals): void {
  if (pid === undefined || exitCode !== null || signalCode !== null) return;
  try {
    if (process.platform === 'win32') spawn('taskkill', ['/pid', String(pid), '/t', '/f'], { stdio: 'ignore' });
    else process.kill(-pid, signal);
  } catch {
    // It has just ended.
  }
}

/** `%sh` and `%%sh` */
export const sh: MagicRun = async ({ rest, body, signal }) => {
  if (body !== undefined && rest !== '') throw new MagicError('Write the commands on the lines below %%sh.');
  const commands = body ?? rest;
  if (commands.trim() === '') throw new MagicError('There is no command: write it after %sh, or below %%sh.');
  const [program, ...options] = shellOf();
  const end = await runChild(program, [...options, commands], { signal });
  // After an interrupt, other code reports it.
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
