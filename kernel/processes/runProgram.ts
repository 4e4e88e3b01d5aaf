import { type ChildProcess, spawn } from 'node:child_process';
import type { Readable } from 'node:stream';

/** How a program ended. `code` is null if a signal ended it. */
type ProgramEnd = { readonly code: number | null; readonly signal: NodeJS.Signals | null };

type ProgramOptions = {
  readonly cwd?: string | undefined;
  /** Default: the environment of this process. */
  readonly env?: Readonly<Record<string, string | undefined>> | undefined;
  /** When this signal aborts, the program and its child processes end. */
  readonly signal: AbortSignal;
  /** Time that the program has to end by itself after an interrupt (SIGINT). Default: the program is killed at once. */
  readonly graceMs?: number;
  /** Attaches readers to the program's output. They must read all of it, or the program waits for them. */
  readonly read: (stdout: Readable, stderr: Readable) => void;
  /** Whether processes that the program leaves running can still print. Default: their output is closed. */
  readonly keepsOutput?: boolean;
};

/** Time to wait for output after the exit, because a process left running may hold the pipes open. */
const drainMs = 1000;

/**
 * Runs a program to its end, without a shell and without input. It gets its own process group, so that its child
 * processes end with it when `signal` is aborted or this process exits. The caller checks `signal` afterwards, because
 * a program may also end by itself when it is interrupted.
 * @throws the system's error if it can't be started
 */
export async function runProgram(
  file: string,
  args: readonly string[],
  { cwd, env, signal, graceMs, read, keepsOutput = false }: ProgramOptions,
): Promise<ProgramEnd> {
  signal.throwIfAborted();
  const child = spawn(file, args, {
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: process.platform !== 'win32',
    windowsHide: true,
    ...(cwd !== undefined && { cwd }),
    ...(env !== undefined && { env }),
  });
  const timers: NodeJS.Timeout[] = [];
  const kill = (): void => killGroup(child, 'SIGKILL');
  let stop: (() => void) | undefined;
  try {
    return await new Promise<ProgramEnd>((resolve, reject) => {
      child.on('error', reject);
      // If the program did not start, it may have no streams.
      if (child.pid === undefined) return;
      read(child.stdout, child.stderr);
      child.on('close', (code, killedBy) => resolve({ code, signal: killedBy }));
      child.on('exit', (code, killedBy) => timers.push(setTimeout(resolve, drainMs, { code, signal: killedBy })));
      const killAndLeave = (): void => {
        kill();
        // If the process is blocked in a system call, it ends later, so the wait is limited.
        timers.push(setTimeout(resolve, drainMs, { code: null, signal: 'SIGKILL' }));
      };
      stop = () => {
        if (graceMs === undefined) return killAndLeave();
        killGroup(child, 'SIGINT');
        timers.push(setTimeout(killAndLeave, graceMs));
        return undefined;
      };
      signal.addEventListener('abort', stop, { once: true });
      process.once('exit', kill);
    });
  } finally {
    for (const timer of timers) clearTimeout(timer);
    if (stop) signal.removeEventListener('abort', stop);
    process.off('exit', kill);
    if (!keepsOutput && child.pid !== undefined) {
      child.stdout.destroy();
      child.stderr.destroy();
    }
  }
}

/** Signals a program and its child processes, unless it has exited: then another process may have its id. */
function killGroup(child: ChildProcess, signal: NodeJS.Signals): void {
  const { pid, exitCode, signalCode } = child;
  if (pid === undefined || exitCode !== null || signalCode !== null) return;
  try {
    if (process.platform !== 'win32') process.kill(-pid, signal);
    else
      spawn('taskkill', ['/pid', String(pid), '/t', '/f'], { stdio: 'ignore', windowsHide: true }).on('error', () =>
        child.kill(signal),
      );
  } catch {
    // The process has just ended.
  }
}
