import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { basename } from 'node:path';
import { messageOf } from '#shared/errors.ts';
import { MagicError, type MagicRun } from './magicTypes.ts';

/** How long a process has to end by itself once the cell is interrupted. */
const graceMs = 1000;
/** How long output is waited for when a process has ended: one that it left running may hold the streams. */
const restMs = 1000;

type ChildEnd = { code: number | null; signal: NodeJS.Signals | null };

/**
 * Runs a program to its end. What it prints becomes output of the cell as it comes; it has no input. Interrupting the cell
 * ends it with all that it started.
 * @throws MagicError when it can't be started
 */
export async function runChild(
  program: string,
  args: readonly string[],
  { signal, cwd }: { signal: AbortSignal; cwd?: string },
): Promise<ChildEnd> {
  signal.throwIfAborted();
  const child = spawn(program, args, {
    stdio: ['ignore', 'pipe', 'pipe'],
    // A group of its own, which can be ended as one.
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
    // What the system says of it is that there is no such program.
    if (cwd !== undefined && !existsSync(cwd))
      throw new MagicError(`The folder ${cwd} is not there any more. Go to another one with %cd.`, { cause: error });
    throw new MagicError(`${program} can't be started: ${messageOf(error)}`, { cause: error });
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
    // It has ended meanwhile.
  }
}

/** `%sh` and `%%sh` */
export const sh: MagicRun = async ({ rest, body, signal }) => {
  if (body !== undefined && rest !== '') throw new MagicError('Write the commands on the lines below %%sh.');
  const commands = body ?? rest;
  if (commands.trim() === '') throw new MagicError('There is no command: write it behind %sh, or below %%sh.');
  const [program, ...options] = shellOf();
  const end = await runChild(program, [...options, commands], { signal });
  // What the cell is told of an interrupt is said elsewhere.
  if (signal.aborted || end.code === 0) return;
  throw new MagicError(
    end.code === null
      ? `The shell was ended by ${end.signal ?? 'a signal'}.`
      : `The shell ended with exit code ${end.code}.`,
  );
};

/** Shells of those who must not have one. */
const noShells: ReadonlySet<string> = new Set(['false', 'nologin']);

/** The person's own shell, and how it takes commands. */
function shellOf(): [program: string, ...options: string[]] {
  if (process.platform === 'win32') return ['powershell.exe', '-NoProfile', '-NonInteractive', '-Command'];
  const own = process.env['SHELL'];
  return [own === undefined || own === '' || noShells.has(basename(own)) ? '/bin/sh' : own, '-c'];
}
