import { spawn, type ChildProcess } from 'node:child_process';

type ProgramEnd =
  | { readonly end: 'exit'; readonly code: number; readonly stdout: string; readonly stderr: string }
  | { readonly end: 'signal'; readonly signal: string; readonly stderr: string }
  /** Killed at the time limit. */
  | { readonly end: 'late'; readonly stderr: string }
  /** Killed because it printed too much. */
  | { readonly end: 'flood' }
  | { readonly end: 'notStarted'; readonly cause: Error };

type ProgramOptions = {
  readonly args: readonly string[];
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Milliseconds. */
  readonly limit: number;
  /** Kills the program. */
  readonly signal: AbortSignal;
};

/** Bytes of both outputs together. */
const longest = 1024 * 1024;

/** Milliseconds to wait for output after the exit; a process left running may hold the pipes open. */
const drain = 1_000;

/**
 * Runs a program to its end without a shell.
 * It gets its own process group, so that its child processes are killed with it. Rejects only with the signal's
 * reason.
 */
export function runProgram(file: string, options: ProgramOptions): Promise<ProgramEnd> {
  const { args, environment, limit, signal } = options;
  return new Promise((resolve, reject) => {
    signal.throwIfAborted();
    const isGroup = process.platform !== 'win32';
    const child = spawn(file, [...args], {
      env: environment,
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: isGroup,
      windowsHide: true,
    });
    const stdout: Buffer[] = [];
    const stderr: Buffer[] = [];
    let length = 0;
    const finish = (end: () => void): void => {
      clearTimeout(timer);
      clearTimeout(drained);
      signal.removeEventListener('abort', stop);
      // Processes that it left running may hold the pipes, which would keep this process alive.
      child.stdout.destroy();
      child.stderr.destroy();
      end();
    };
    const kill = (end: () => void): void => {
      killAll(child, isGroup);
      finish(end);
    };
    const stop = (): void => kill(() => reject(signal.reason as Error));
    const timer = setTimeout(() => kill(() => resolve({ end: 'late', stderr: text(stderr) })), limit);
    signal.addEventListener('abort', stop, { once: true });
    const take = (into: Buffer[]) => (chunk: Buffer) => {
      length += chunk.length;
      if (length > longest) kill(() => resolve({ end: 'flood' }));
      else into.push(chunk);
    };
    child.stdout.on('data', take(stdout));
    child.stderr.on('data', take(stderr));
    child.on('error', (cause) => finish(() => resolve({ end: 'notStarted', cause })));
    const over = (code: number | null, signalName: string | null): void =>
      finish(() =>
        resolve(
          code === null
            ? { end: 'signal', signal: signalName ?? 'unknown', stderr: text(stderr) }
            : { end: 'exit', code, stdout: text(stdout), stderr: text(stderr) },
        ),
      );
    let drained: NodeJS.Timeout | undefined;
    child.on('exit', (code, signalName) => (drained = setTimeout(over, drain, code, signalName)));
    child.on('close', over);
  });
}

const text = (chunks: readonly Buffer[]): string => Buffer.concat(chunks).toString('utf8');

function killAll(child: ChildProcess, isGroup: boolean): void {
  const { pid } = child;
  if (pid === undefined) return;
  try {
    if (isGroup) process.kill(-pid, 'SIGKILL');
    else child.kill('SIGKILL');
  } catch {
    // It has exited already.
  }
}
