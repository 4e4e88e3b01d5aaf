import type { ChildProcess } from 'node:child_process';
import type { Socket } from 'node:net';
import { bundleFile } from '#processes/bundleFile.ts';
import { startNode, thisNode } from '#processes/childProcess.ts';
import { exitReason, readTail } from '#processes/exitReason.ts';
import { CatalogError } from '#shared/errors.ts';
import { requireLazy } from '#shared/loadLazy.ts';
import { Endpoint } from '#shared/protocol/rpc.ts';
import type { SqlHostMethods, SqlMethods } from './sqlMessages.ts';

/** How long an idle process is kept for the next query. A start takes 100 ms; an idle process takes 60 MB of memory. */
const keptMs = 60_000;
/**
 * A process that holds more memory than this after its query is not kept, because the process would not return freed
 * memory to the system.
 */
const maxKeptBytes = 256 * 1024 * 1024;

/**
 * SQLite in a child process, because a process can be killed while it computes. The child keeps the kernel process
 * running only after `hold(true)`.
 */
class SqlProcess {
  readonly #child: ChildProcess;
  readonly #endpoint: Endpoint<SqlHostMethods, SqlMethods>;
  #end: string | undefined;

  constructor() {
    // Older Node versions warn that SQLite is experimental.
    const flags = ['--no-warnings'];
    const stdio = ['ignore', 'ignore', 'pipe', 'ipc'] as const;
    this.#child = startNode({
      node: thisNode(),
      flags,
      entry: bundleFile('sqlite.cjs'),
      stdio: [...stdio],
      serialization: 'advanced',
    });
    const stderr = readTail(this.#child.stderr);
    this.#endpoint = new Endpoint<SqlHostMethods, SqlMethods>((frame) => this.#send(frame), {});
    this.#child.on('message', (frame) => void this.#endpoint.receive(frame));
    this.#child.on('error', (error) => this.#ended(error.message));
    this.#child.on('exit', (code, killed) => this.#ended(exitReason(code, killed, stderr())));
  }

  get isRunning(): boolean {
    return this.#end === undefined;
  }

  /** Why the process has ended; undefined while it runs. */
  get end(): string | undefined {
    return this.#end;
  }

  /** @throws RemoteError with the error of the database, or code `closed` if the process has ended */
  request<K extends keyof SqlMethods>(method: K, params: SqlMethods[K][0]): Promise<SqlMethods[K][1]> {
    return this.#endpoint.request(method, params);
  }

  /** Sets whether the child keeps this process running. */
  hold(isHeld: boolean): void {
    const { channel, stderr } = this.#child;
    for (const each of [this.#child, channel, stderr as Socket | null]) {
      if (isHeld) each?.ref();
      else each?.unref();
    }
  }

  kill(): void {
    this.#ended('the kernel stopped it');
    this.#child.kill('SIGKILL');
  }

  #send(frame: unknown): void {
    if (this.#end !== undefined) return;
    // An error of sending is ignored, because the exit event says more about a lost process.
    this.#child.send(frame as object, () => {});
  }

  #ended(reason: string): void {
    if (this.#end !== undefined) return;
    this.#end = reason;
    this.#endpoint.close();
  }
}

export type SqlConnection = Pick<SqlProcess, 'request' | 'end'>;

/** An idle process that waits for the next query. */
let kept: SqlProcess | undefined;
let keptUntil: NodeJS.Timeout | undefined;

/**
 * Runs a function with an empty database in a child process, which is killed if `signal` aborts.
 * @throws the error of `use`; the reason of `signal`
 */
export async function withDatabase<T>(signal: AbortSignal, use: (database: SqlConnection) => Promise<T>): Promise<T> {
  signal.throwIfAborted();
  // The start is protected from a termination: in a kernel with much memory it takes long, and a terminated start would
  // leave a running process without a reference.
  const { taken, stop } = requireLazy(() => {
    const started = take();
    const kill = (): void => started.kill();
    signal.addEventListener('abort', kill, { once: true });
    return { taken: started, stop: kill };
  });
  try {
    return await use(taken);
  } catch (error) {
    signal.throwIfAborted();
    throw error;
  } finally {
    signal.removeEventListener('abort', stop);
    await giveBack(taken);
  }
}

function take(): SqlProcess {
  clearTimeout(keptUntil);
  const taken = kept?.isRunning === true ? kept : new SqlProcess();
  kept = undefined;
  taken.hold(true);
  return taken;
}

async function giveBack(taken: SqlProcess): Promise<void> {
  // If the process has ended or is unusable, `close` fails. Then the size counts as infinite, so the process is not
  // kept.
  const bytes = await taken.request('close', null).catch(() => Infinity);
  if (bytes > maxKeptBytes) return taken.kill();
  taken.hold(false);
  if (kept) return taken.kill();
  kept = taken;
  keptUntil = setTimeout(() => {
    kept?.kill();
    kept = undefined;
  }, keptMs).unref();
}

export const sqlProcessEnded = (reason: string, cause: unknown): CatalogError =>
  new CatalogError(
    'ServiceUnavailable',
    `The SQL process has ended: ${reason}.`,
    'Run the query again. If memory ran out, select fewer columns or rows.',
    { cause },
  );
