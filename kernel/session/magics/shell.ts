import { basename } from 'node:path';
import { runChild } from './childProcess.ts';
import { MagicError, type MagicRun } from './magicTypes.ts';

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
