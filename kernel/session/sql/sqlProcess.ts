import type { ChildProcess } from 'node:child_process';
import type { Socket } from 'node:net';
import { basename, join } from 'node:path';
import { startNode, thisNode } from '#processes/childProcess.ts';
import { exitReason, tailOf } from '#processes/exitReason.ts';
import { CatalogError } from '#shared/errors.ts';
import { loadPartNow } from '#shared/loadPart.ts';
import { Endpoint } from '#shared/protocol/rpc.ts';
import type { SqlHostMethods, SqlMethods } from './sqlMessages.ts';

/** How long a process is kept for the next query: it takes a tenth of a second to start, and 60 MB while it is there. */
const keptMs = 60_000;
/** One that holds more than this after its query is not kept: what it has freed goes back to nobody. */
const maxKeptBytes = 256 * 1024 * 1024;

/** The bundle beside the bundles, or in dist/ where sources run as they are. */
const entry = (): string => {
  const here = import.meta.dirname;
  return basename(here) === 'dist' ? join(here, 'sqlite.cjs') : join(here, '../../../dist/sqlite.cjs');
};

/** SQLite in a process of its own, which can be ended while it computes. It does not keep this one from ending. */
class SqlProcess {
  readonly #child: ChildProcess;
  readonly #endpoint: Endpoint<SqlHostMethods, SqlMethods>;
  #end: string | undefined;

  constructor() {
    // An older Node says of SQLite that it is experimental.
    const flags = ['--no-warnings'];
    const stdio = ['ignore', 'ignore', 'pipe', 'ipc'] as const;
    this.#child = startNode({ node: thisNode(), flags, entry: entry(), stdio: [...stdio], serialization: 'advanced' });
    const stderr = tailOf(this.#child.stderr);
    this.#endpoint = new Endpoint<SqlHostMethods, SqlMethods>((frame) => this.#send(frame), {});
    this.#child.on('message', (frame) => void this.#endpoint.receive(frame));
    this.#child.on('error', (error) => this.#ended(error.message));
    this.#child.on('exit', (code, killed) => this.#ended(exitReason(code, killed, stderr())));
  }

  get isRunning(): boolean {
    return this.#end === undefined;
  }

  /** Why it has ended, when it has. */
  get end(): string | undefined {
    return this.#end;
  }

  /** @throws RemoteError with what it says, or `closed` when it has ended */
  request<K extends keyof SqlMethods>(method: K, params: SqlMethods[K][0]): Promise<SqlMethods[K][1]> {
    return this.#endpoint.request(method, params);
  }

  /** Whether this process waits for it. */
  hold(isHeld: boolean): void {
    const { channel, stderr } = this.#child;
    for (const each of [this.#child, channel, stderr as Socket | null]) {
      if (isHeld) each?.ref();
      else each?.unref();
    }
  }

  kill(): void {
    this.#ended('it was told to');
    this.#child.kill('SIGKILL');
  }

  #send(frame: unknown): void {
    if (this.#end !== undefined) return;
    // That it is gone is told by its exit, which says more.
    this.#child.send(frame as object, () => {});
  }

  #ended(reason: string): void {
    if (this.#end !== undefined) return;
    this.#end = reason;
    this.#endpoint.close();
  }
}

/** What a query asks of its database. */
export type SqlConnection = Pick<SqlProcess, 'request' | 'end'>;

/** A process that has answered and waits for the next query. */
let kept: SqlProcess | undefined;
let keptUntil: NodeJS.Timeout | undefined;

/**
 * Gives a function an empty database in a process of its own, which is ended when `signal` is aborted.
 * @throws what `use` throws; the reason of `signal`
 */
export async function withDatabase<T>(signal: AbortSignal, use: (database: SqlConnection) => Promise<T>): Promise<T> {
  signal.throwIfAborted();
  // To start one takes long in a kernel that holds much. Cut off in that, it would run on with nobody who knows of it.
  const { taken, stop } = loadPartNow(() => {
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
  // It has ended, or can't be used any more.
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

/** That the process of a query ended before it has answered. */
export const sqlEnded = (reason: string, cause: unknown): CatalogError =>
  new CatalogError(
    'ServiceUnavailable',
    `The process that answers SQL has ended: ${reason}.`,
    'Run the query again; where memory ran out, name fewer columns or narrow its rows.',
    { cause },
  );
