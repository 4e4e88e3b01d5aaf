import { openSync, readFileSync, closeSync } from 'node:fs';
import { readFile, rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import type { Duplex } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { CatalogError } from '#shared/errors.ts';
import { isKeptKernel, keptErrors, keptFile, type KeptKernel } from '#shared/protocol/kernelMessages.ts';
import { startNode, type NodeRuntime } from './childProcess.ts';
import { exitReason, lastSaid, tailOf } from './exitReason.ts';

/** How Node ends over a flag that it does not know, as an embedder's may. */
const badOptionExit = 9;
/** How long the pipe of a process that has ended may stay open; what it started may hold it. */
const closeMs = 200;
/** How long a process whose pipe is closed may take to end. On a busy machine this takes a second at times. */
const exitMs = 3000;

/** A connection to a kernel's process, whoever started it. */
export type KernelLink = {
  readonly pipe: Duplex;
  /** Resolves once, when the connection is over, to why: `exit code 1 (out of memory)`. */
  readonly ended: Promise<string>;
  /** Ends the process without asking it. */
  readonly kill: () => void;
  /** Whether the process, if it was started here, has not ended yet. */
  runs(): boolean;
  /** Whether the process ended because its Node refused a flag of ours. */
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

/** Starts a kernel's process with a pipe to it. */
export function startLink({ node, flags, entry, cwd, env, folder }: LinkStart): KernelLink {
  // A kernel that outlives this process must not write its last words to a pipe that nobody holds any more.
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
  // Whatever native code prints must be read, or the kernel stops at a full pipe.
  child.stdout?.resume();
  const stderr = folder === undefined ? tailOf(child.stderr) : () => lastWords(folder);
  const failed = new Promise<string>((resolve) => child.on('error', (error) => resolve(error.message)));
  // The pipe may close before the exit is known, which says why; and the exit come before the last output is read.
  const closed = new Promise((resolve) => pipe.once('close', resolve));
  const exited = new Promise<string>((resolve) => {
    child.once('exit', (code, killed) => resolve(exitReason(code, killed, stderr())));
  });
  const ended = Promise.race([
    failed,
    exited.then(async (reason) => (await soon(closed, closeMs), reason)),
    closed.then(async () => {
      // Closed from here, the process may go on: it is kept, or is being killed.
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
 * Connects to a kernel that an earlier window started, and says what it must be told first.
 * @throws CatalogError ServiceUnavailable (17) when it is not there any more
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
    // Its last words may not be in the file yet.
    await soon(new Promise(() => {}), closeMs);
    const said = lastSaid(lastWords(folder));
    return said ? `its connection closed (${said})` : 'its connection closed';
  });
  return { link: { pipe, ended, kill: () => killProcess(pid), runs: () => false, refusedFlags: () => false }, secret };
}

/** Removes what a kernel left that could not do it itself, because it was killed. */
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
    // A kernel that ended in order has removed its folder.
    return '';
  }
}

function killProcess(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // Gone already.
  }
}

/** Waits for something that should happen any moment; `undefined` when it does not. */
async function soon<T>(event: Promise<T>, milliseconds: number): Promise<T | undefined> {
  const stop = new AbortController();
  try {
    return await Promise.race([event, sleep(milliseconds, undefined, { signal: stop.signal })]);
  } finally {
    stop.abort();
  }
}
