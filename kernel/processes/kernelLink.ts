import { openSync, readFileSync, closeSync } from 'node:fs';
import { readFile, rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import type { Duplex } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { CatalogError } from '#shared/errors.ts';
import { isKeptKernel, keptErrors, keptFile, type KeptKernel } from '#shared/protocol/kernelMessages.ts';
import { startNode, type NodeRuntime } from './childProcess.ts';
import { exitReason, lastErrorLine, readTail } from './exitReason.ts';

/** Exit code of Node.js for an unknown flag. The Node.js of an embedder may not know all flags. */
const badOptionExit = 9;
/**
 * How long to wait for what usually follows at once, such as the close of the pipe after the exit of the process. The
 * pipe may stay open, because children of the process may hold it.
 */
const closeMs = 200;
/** How long a process may take to end after its pipe was closed. On a busy machine this can take a second. */
const exitMs = 3000;

/** A connection to a kernel process, which may have been started by another process. */
export type KernelLink = {
  readonly pipe: Duplex;
  /** Resolves with the reason when the connection ends: `exit code 1 (out of memory)`. */
  readonly ended: Promise<string>;
  /** Kills the process without a request. */
  readonly kill: () => void;
  /** Whether the process was started here and has not ended yet. */
  runs(): boolean;
  /** Whether the process ended because its Node.js refused a flag. */
  refusedFlags(): boolean;
};

type LinkStart = {
  node: NodeRuntime;
  flags: readonly string[];
  entry: string;
  cwd: string;
  env?: Record<string, string>;
  /** The folder of a kernel that outlives this process. */
  folder?: string;
};

export function startLink({ node, flags, entry, cwd, env, folder }: LinkStart): KernelLink {
  // A kernel that outlives this process must not write errors to a pipe that is no longer open.
  const errors = folder === undefined ? 'pipe' : openSync(join(folder, keptErrors), 'w', 0o600);
  const child = startNode({
    node,
    flags,
    entry,
    args: ['--pipe'],
    cwd,
    ...(env && { env }),
    detached: folder !== undefined,
    stdio: ['ignore', folder === undefined ? 'pipe' : 'ignore', errors, 'pipe'],
  });
  if (typeof errors === 'number') {
    closeSync(errors);
    child.unref();
  }
  const pipe = child.stdio[3] as Duplex;
  // Output of native code must be read, or the kernel blocks on a full pipe.
  child.stdout?.resume();
  const stderr = folder === undefined ? readTail(child.stderr) : () => lastWords(folder);
  const failed = new Promise<string>((resolve) => child.on('error', (error) => resolve(error.message)));
  // Waits for the exit and for the close of the pipe: only the exit has the reason. The exit may come after the close,
  // or before the last output is read.
  const closed = new Promise((resolve) => pipe.once('close', resolve));
  const exited = new Promise<string>((resolve) => {
    child.once('exit', (code, killed) => resolve(exitReason(code, killed, stderr())));
  });
  const ended = Promise.race([
    failed,
    exited.then(async (reason) => (await soon(closed, closeMs), reason)),
    closed.then(async () => {
      // If this side closed the pipe, the process may continue: it is kept, or is being killed.
      const isOurs = !pipe.readableEnded && !pipe.errored;
      return (await soon(exited, isOurs ? closeMs : exitMs)) ?? 'its pipe closed';
    }),
  ]);
  return {
    pipe,
    ended,
    kill: () => void child.kill('SIGKILL'),
    runs: () => child.pid !== undefined && child.exitCode === null && child.signalCode === null,
    refusedFlags: () => child.exitCode === badOptionExit,
  };
}

/**
 * Connects to a kernel that an earlier window started. The secret has to be sent first.
 * @throws CatalogError ServiceUnavailable (17) if it no longer exists
 */
export async function openLink(folder: string): Promise<{ link: KernelLink; secret: string }> {
  const { address, secret, pid } = await readKept(folder);
  const pipe = connect(address);
  try {
    await new Promise((resolve, reject) => pipe.once('connect', resolve).once('error', reject));
  } catch (cause) {
    throw goneError(cause);
  }
  const closed = new Promise((resolve) => pipe.once('close', resolve));
  const ended = closed.then(async () => {
    // The last errors of the kernel may not be in the file yet.
    await soon(new Promise(() => {}), closeMs);
    const said = lastErrorLine(lastWords(folder));
    return said ? `its connection closed (${said})` : 'its connection closed';
  });
  return { link: { pipe, ended, kill: () => killProcess(pid), runs: () => false, refusedFlags: () => false }, secret };
}

/** Removes the files of a kernel that was killed and could not remove them itself. */
export const removeKept = (folder: string): Promise<void> => rm(folder, { recursive: true, force: true });

async function readKept(folder: string): Promise<KeptKernel> {
  try {
    const kept: unknown = JSON.parse(await readFile(join(folder, keptFile), 'utf8'));
    if (isKeptKernel(kept)) return kept;
  } catch (cause) {
    throw goneError(cause);
  }
  throw goneError(undefined);
}

const goneError = (cause: unknown): CatalogError =>
  new CatalogError('ServiceUnavailable', 'The kernel has ended.', 'Run a cell to start a new one.', { cause });

function lastWords(folder: string): string {
  try {
    return readFileSync(join(folder, keptErrors), 'utf8').slice(-10_000);
  } catch {
    // Without the file the result is empty, because a kernel that ended normally has removed its folder.
    return '';
  }
}

function killProcess(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // The kernel has already ended.
  }
}

/** Waits for an event that should occur at any moment; `undefined` after a timeout. */
async function soon<T>(event: Promise<T>, milliseconds: number): Promise<T | undefined> {
  const stop = new AbortController();
  try {
    return await Promise.race([event, sleep(milliseconds, undefined, { signal: stop.signal })]);
  } finally {
    stop.abort();
  }
}
