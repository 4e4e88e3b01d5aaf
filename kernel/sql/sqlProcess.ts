import type { ChildProcess } from 'node:child_process';
import type { Socket } from 'node:net';
import { totalmem } from 'node:os';
import { bundleFile } from '#processes/bundleFile.ts';
import { startNode, thisNode } from '#processes/childProcess.ts';
import { exitReason, readTail } from '#processes/exitReason.ts';
import { CatalogError } from '#shared/errors.ts';
import { requireLazy } from '#shared/loadLazy.ts';
import { Endpoint } from '#shared/protocol/rpc.ts';
import { type EngineHostMethods, type EngineMethods, replyPipe, requestPipe } from './messages.ts';
import { type QueryPulls, servePulls } from './pullServer.ts';
import { createSpillFolder, removeSpillFolder } from '#processes/spillFolder.ts';

/** How long an idle process is kept for the next query. A start takes 150 ms; an idle process takes 110 MB of memory. */
const keptMs = 60_000;
/**
 * A process that holds more memory than this after its query is not kept, because the process would not return freed
 * memory to the system.
 */
const maxKeptBytes = 400 * 1024 * 1024;

const mebibyte = 1024 * 1024;

/** The engine's memory: a quarter of the machine's, within limits. Data beyond it is written to the spill folder. */
export const defaultMemoryBytes = (): number => Math.min(Math.max(totalmem() / 4, 512 * mebibyte), 4096 * mebibyte);

/**
 * The SQL engine in a child process, because a process can be killed while it computes. The child keeps this process
 * running only after `hold(true)`.
 */
export class SqlProcess {
  readonly #child: ChildProcess;
  readonly #endpoint: Endpoint<EngineHostMethods, EngineMethods>;
  readonly #spillFolder = createSpillFolder();
  #end: string | undefined;
  /** The memory that the engine may use before it writes data to the spill folder. */
  readonly memoryBytes: number;
  /** The query that runs now; the requests of the process for tables belong to it. */
  pulls: QueryPulls | undefined;

  constructor(memoryBytes: number) {
    this.memoryBytes = memoryBytes;
    const stdio = ['ignore', 'ignore', 'pipe', 'pipe', 'pipe', 'ipc'] as const;
    this.#child = startNode({
      node: thisNode(),
      flags: ['--no-warnings'],
      entry: bundleFile('sql.cjs'),
      args: [this.#spillFolder, `${Math.floor(memoryBytes / mebibyte)}MiB`],
      stdio: [...stdio],
      serialization: 'advanced',
    });
    const stderr = readTail(this.#child.stderr);
    const { stdio: pipes } = this.#child;
    servePulls(pipes[requestPipe] as Socket, pipes[replyPipe] as Socket, () => this.pulls);
    this.#endpoint = new Endpoint<EngineHostMethods, EngineMethods>((frame) => this.#send(frame), {});
    this.#child.on('message', (frame) => void this.#endpoint.receive(frame));
    this.#child.on('error', (error) => {
      this.#ended(error.message);
      void removeSpillFolder(this.#spillFolder);
    });
    this.#child.on('exit', (code, killed) => {
      this.#ended(exitReason(code, killed, stderr()));
      void removeSpillFolder(this.#spillFolder);
    });
  }

  get isRunning(): boolean {
    return this.#end === undefined;
  }

  /** Why the process has ended; undefined while it runs. */
  get end(): string | undefined {
    return this.#end;
  }

  /** @throws RemoteError with the error of the engine, or code `closed` if the process has ended */
  request<K extends keyof EngineMethods>(method: K, params: EngineMethods[K][0]): Promise<EngineMethods[K][1]> {
    return this.#endpoint.request(method, params);
  }

  /** Sets whether the child keeps this process running. */
  hold(isHeld: boolean): void {
    const { channel, stdio } = this.#child;
    for (const each of [this.#child, channel, ...(stdio as (Socket | null)[])]) {
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

/** An idle process that waits for the next query. */
let kept: SqlProcess | undefined;
let keptUntil: NodeJS.Timeout | undefined;

/**
 * Takes the idle process or starts one. It is killed if `signal` aborts, at once, during any computation.
 * @returns the process and a function that gives it back; `isKept` for a process that answered a query before
 */
export function takeProcess(
  signal: AbortSignal,
  memoryBytes: number,
): {
  process: SqlProcess;
  isKept: boolean;
  giveBack: () => Promise<void>;
} {
  signal.throwIfAborted();
  // The start is protected from a termination: in a kernel with much memory it takes long, and a terminated start would
  // leave a running process without a reference.
  return requireLazy(() => {
    clearTimeout(keptUntil);
    if (kept?.memoryBytes !== memoryBytes) kept?.kill();
    const isKept = kept?.isRunning === true;
    const taken = isKept && kept ? kept : new SqlProcess(memoryBytes);
    kept = undefined;
    taken.hold(true);
    const kill = (): void => taken.kill();
    signal.addEventListener('abort', kill, { once: true });
    const giveBack = async (): Promise<void> => {
      await keep(taken);
      signal.removeEventListener('abort', kill);
    };
    return { process: taken, isKept, giveBack };
  });
}

async function keep(taken: SqlProcess): Promise<void> {
  // If the process has ended or is unusable, `close` fails. Then the size counts as infinite, so the process is not
  // kept.
  const bytes = await taken.request('close', null).catch(() => Infinity);
  if (bytes > maxKeptBytes || kept) return taken.kill();
  taken.hold(false);
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
