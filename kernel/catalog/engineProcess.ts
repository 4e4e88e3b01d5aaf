import type { ChildProcess } from 'node:child_process';
import { randomBytes, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { rm } from 'node:fs/promises';
import { Agent, type IncomingMessage, request } from 'node:http';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { RestCatalog } from '#catalog/rest/restCatalog.ts';
import { canLimitMemory, type NodeRuntime, startNode } from '#processes/childProcess.ts';
import { createTempFolder } from '#processes/files.ts';
import type { DirConfig } from '#shared/catalogConfig.ts';
import { isRepairResult, type RepairResult } from '#shared/damage.ts';
import { CatalogError, isCatalogError } from '#shared/errors.ts';
import type { NamespacePath } from '#shared/names.ts';
import { isRecord } from '#shared/records.ts';
import { engineHost, namespaceHeader, repairPath } from './contract.ts';
import { engineCatalog } from './engineCatalog.ts';
import { type EngineAddress, engineHeaders, exitDelay, parseErrorBody, requestEngine } from './engineRequest.ts';
import { type EngineHandshake, parseHandshake } from './engineHandshake.ts';

export type { EngineHandshake } from './engineHandshake.ts';

/** How an engine process ended; `expected` if it was disposed. */
export type EngineExit = { code: number | null; signal: NodeJS.Signals | null; expected: boolean };

export type EngineProcessOptions = {
  entry: string;
  node: NodeRuntime;
  /** Receives lines that the process writes for the log. */
  log?: ((line: string) => void) | undefined;
  /**
   * A module whose `openStoreFiles` reads files beside tables of object stores, such as the leases of backfills.
   * Without this module, such files in an object store are not seen.
   */
  storeFiles?: string | undefined;
  /** Maximum bytes that the process may use; it ends if it needs more. */
  memoryLimit?: number | undefined;
  /** Environment variables for the engine process, in addition to the environment of the process that starts it. */
  env?: Record<string, string> | undefined;
  signal?: AbortSignal | undefined;
};

/** A request that is passed on unchanged. */
export type ForwardedRequest = {
  readonly method: string;
  /** The path with the query string. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array | AsyncIterable<Uint8Array>;
  readonly config: DirConfig;
  /** The namespace that is the root for the request (default: the root of the directory). */
  readonly namespacePath?: NamespacePath | undefined;
};

/** How long a process may take to start, milliseconds: loading 200 MB from a cold disk takes seconds. */
const startTimeout = 20_000;
const maxKept = 4096;
/**
 * Bytes that Node and V8 reserve without using them. The memory limit of the operating system counts them, so they are
 * added to `memoryLimit`.
 */
const reservedBytes = 640 * 2 ** 20;
/** Error codes of a connection to a socket without a listener. */
const noConnection: ReadonlySet<unknown> = new Set(['ECONNREFUSED', 'ENOENT', 'UND_ERR_CONNECT_TIMEOUT']);

/**
 * The engine in a separate process, so that 200 MB of native code and its crashes stay out of this process. Calls reach
 * the process by the REST contract over a socket in a folder that only this user can enter. The process ends when this
 * object is disposed or when this process ends.
 */
export class EngineProcess {
  readonly handshake: EngineHandshake;
  readonly #child: ChildProcess;
  readonly #socket: string;
  readonly #secret: string;
  readonly #folder: string | undefined;
  readonly #listeners = new Set<(exit: EngineExit) => void>();
  readonly #catalogs = new Set<RestCatalog>();
  // The engine process closes no idle connection, so the agent can reuse a connection at any time.
  readonly #agent = new Agent({ keepAlive: true });
  #exit: EngineExit | undefined;
  #disposed = false;

  private constructor(child: ChildProcess, handshake: EngineHandshake, place: Place) {
    this.#child = child;
    this.handshake = handshake;
    this.#socket = place.socket;
    this.#secret = place.secret;
    this.#folder = place.folder;
    const ended = (code: number | null, signal: NodeJS.Signals | null) => this.#ended(code, signal);
    child.once('exit', ended);
    if (child.exitCode !== null || child.signalCode !== null) ended(child.exitCode, child.signalCode);
  }

  /**
   * Starts the process and waits until it listens.
   * @throws CatalogError ServiceUnavailable (17) with the output of the process if the process ends or does not report
   * within 20 s
   */
  static async start(options: EngineProcessOptions): Promise<EngineProcess> {
    options.signal?.throwIfAborted();
    const place = await makePlace();
    const { memoryLimit } = options;
    const isLimited = memoryLimit !== undefined && canLimitMemory();
    const child = startNode({
      node: options.node,
      entry: options.entry,
      env: options.env ?? memoryEnv(),
      stdio: ['pipe', 'pipe', 'pipe'],
      ...(isLimited && { memoryLimit: memoryLimit + reservedBytes }),
    });
    try {
      // If the operating system can't limit memory, the engine process watches its own memory.
      const handshake = await handshakeOf(child, place, {
        ...options,
        memoryLimit: isLimited ? undefined : memoryLimit,
      });
      return new EngineProcess(child, handshake, place);
    } catch (error) {
      child.kill('SIGKILL');
      await removeFolder(place.folder);
      throw error;
    }
  }

  /** How other processes of this user reach the process; it has a secret. */
  get address(): EngineAddress {
    return { socketPath: this.#socket, secret: this.#secret };
  }

  /**
   * Returns the catalog in a directory or an object store. This call sends no request, so a root that can't be read
   * fails at the first call of the catalog.
   * @param options `storageOptions` are the settings of the store, with the names of the store's own client
   */
  catalog(root: string, options: { storageOptions?: Readonly<Record<string, string>> | undefined } = {}): RestCatalog {
    const { storageOptions = {} } = options;
    const catalog: RestCatalog = engineCatalog(
      this.address,
      { root, storageOptions },
      { explain: (cause) => this.#explain(cause), onClose: () => void this.#catalogs.delete(catalog) },
    );
    this.#catalogs.add(catalog);
    return catalog;
  }

  /**
   * Inspects the catalog in a directory or an object store and changes nothing.
   * @throws CatalogError if the catalog can't be read
   */
  inspect(config: DirConfig, signal?: AbortSignal): Promise<RepairResult> {
    return this.#repair('GET', config, signal);
  }

  /** Repairs the catalog in a directory. @throws CatalogError as `inspect` */
  repair(config: DirConfig, signal?: AbortSignal): Promise<RepairResult> {
    return this.#repair('POST', config, signal);
  }

  async #repair(method: 'GET' | 'POST', config: DirConfig, signal: AbortSignal | undefined): Promise<RepairResult> {
    const explain = (cause: unknown) => this.#explain(cause);
    const bytes = await requestEngine(this.address, { path: repairPath, method, config, signal, explain });
    const body: unknown = JSON.parse(bytes.toString('utf8'));
    if (isRepairResult(body)) return body;
    throw parseErrorBody(body, 200);
  }

  /**
   * Sends a request of the contract unchanged. Resolves with the response before any of its body was read.
   * @throws CatalogError ServiceUnavailable (17) if the connection breaks, for instance because the process ends; the
   * error of a request body that fails
   */
  async forward(sent: ForwardedRequest, signal: AbortSignal): Promise<IncomingMessage> {
    const { method, path, body, config, namespacePath = [] } = sent;
    const headers = {
      ...sent.headers,
      host: engineHost,
      ...engineHeaders(this.#secret, config),
      ...(namespacePath.length > 0 && { [namespaceHeader]: encodeURIComponent(JSON.stringify(namespacePath)) }),
    };
    const asked = request({ socketPath: this.#socket, path, method, headers, signal, agent: this.#agent });
    // An error after the response is also reported to the reader of the response, so it is dropped here.
    asked.on('error', () => undefined);
    try {
      const answered = once(asked, 'response') as Promise<[IncomingMessage]>;
      if (body instanceof Uint8Array) asked.end(body);
      // If the process refuses a request, it answers before it has read the whole body. Then writing the body fails;
      // the error is dropped, because the response gives the reason.
      else pipeline(body, asked).catch(() => undefined);
      const [response] = await answered;
      return response;
    } catch (cause) {
      signal.throwIfAborted();
      throw isCatalogError(cause) ? cause : await this.#explain(cause);
    }
  }

  /** Ends the process at once. */
  kill(): void {
    this.#child.kill('SIGKILL');
  }

  get pid(): number {
    return this.handshake.pid;
  }

  get isRunning(): boolean {
    return this.#exit === undefined;
  }

  /**
   * Calls the listener when the process ends, or immediately if it has ended. Returns an object that removes the
   * listener.
   */
  onDidExit(listener: (exit: EngineExit) => void): { dispose(): void } {
    if (this.#exit) listener(this.#exit);
    else this.#listeners.add(listener);
    return { dispose: () => void this.#listeners.delete(listener) };
  }

  /** Ends the process; running calls fail. Resolves when the process has ended. */
  async dispose(): Promise<void> {
    this.#disposed = true;
    const gone = new Promise<void>((resolve) => void this.onDidExit(() => resolve()));
    this.#child.stdin?.end();
    const late = setTimeout(() => this.#child.kill('SIGKILL'), 3000);
    await gone;
    clearTimeout(late);
    this.#agent.destroy();
    await Promise.all([...this.#catalogs].map((catalog) => catalog.close()));
    this.#catalogs.clear();
    await removeFolder(this.#folder);
  }

  #ended(code: number | null, signal: NodeJS.Signals | null): void {
    if (this.#exit) return;
    this.#exit = { code, signal, expected: this.#disposed };
    for (const listener of this.#listeners) listener(this.#exit);
    this.#listeners.clear();
    void removeFolder(this.#folder);
  }

  /**
   * Returns the error for a broken connection. If the process ended, its exit may be reported a moment later. A process
   * that did not end also closes the connection of a response that it can't finish, for instance if a scan fails
   * midway.
   */
  async #explain(cause: unknown): Promise<CatalogError> {
    const exit = await this.#exitSoon();
    const [what, hint] = exit
      ? [`ended ${exit.signal ? `by ${exit.signal}` : `with code ${exit.code}`}`, 'Restart it and try again.']
      : isRecord(cause) && noConnection.has(cause['code'])
        ? ['does not respond', 'Restart it and try again.']
        : ['did not finish its response', 'See its log for the reason, then try again.'];
    return new CatalogError('ServiceUnavailable', `The engine process ${what}.`, hint, { cause });
  }

  /** Returns how the process ended, if it has ended or ends within `exitDelay`. */
  #exitSoon(): Promise<EngineExit | undefined> {
    return new Promise((resolve) => {
      const late = setTimeout(() => {
        listening.dispose();
        resolve(undefined);
      }, exitDelay);
      const listening = this.onDidExit((exit) => {
        clearTimeout(late);
        resolve(exit);
      });
    });
  }
}

/**
 * Returns an environment that keeps the process small while it scans for a reader that is slower than the disk. By
 * default, glibc keeps freed memory in a pool for each thread, and the engine reads several fragments ahead. A scan of
 * 50 million rows took 580 MB with the defaults; with one pool and one fragment it takes 180 to 270 MB and the same
 * time. Variables that the user has set are kept. Both variables are read when the process starts.
 */
function memoryEnv(): Record<string, string> {
  const wanted = { MALLOC_ARENA_MAX: '1', LANCE_DEFAULT_FRAGMENT_READAHEAD: '1' };
  return Object.fromEntries(Object.entries(wanted).filter(([name]) => process.env[name] === undefined));
}

type Place = { socket: string; secret: string; folder: string | undefined };

async function makePlace(): Promise<Place> {
  const secret = randomBytes(32).toString('base64url');
  if (process.platform === 'win32')
    return { socket: `\\\\.\\pipe\\lance-engine-${randomUUID()}`, secret, folder: undefined };
  const folder = await createTempFolder('engine');
  return { socket: join(folder, 's'), secret, folder };
}

async function removeFolder(folder: string | undefined): Promise<void> {
  if (folder !== undefined) await rm(folder, { recursive: true, force: true });
}

/** Sends the child its socket and secret, and waits for its handshake. */
function handshakeOf(child: ChildProcess, place: Place, options: EngineProcessOptions): Promise<EngineHandshake> {
  return new Promise((resolve, reject) => {
    let said = '';
    let isSettled = false;
    const timer = setTimeout(() => fail(`did not report within ${startTimeout / 1000} s`), startTimeout);
    const abort = () => settle(() => reject(options.signal?.reason));
    const settle = (then: () => void) => {
      if (isSettled) return;
      isSettled = true;
      clearTimeout(timer);
      options.signal?.removeEventListener('abort', abort);
      then();
    };
    const fail = (how: string, cause?: unknown) =>
      settle(() => {
        const output = said.trim();
        reject(
          new CatalogError(
            'ServiceUnavailable',
            `The engine process ${how}${output ? `: ${output}` : ''}.`,
            'See the log, and check the setting lanceCatalog.nodePath.',
            { cause },
          ),
        );
      });
    const keep = (line: string) => {
      if (said.length < maxKept) said += `${line}\n`;
    };
    options.signal?.addEventListener('abort', abort, { once: true });
    child.once('error', (cause) => fail(`can't start (${cause.message})`, cause));
    child.once('exit', (code, signal) => fail(`ended with ${signal ?? `code ${code}`} while starting`));
    onLines(child.stderr, (line) => {
      if (!isSettled) keep(line);
      options.log?.(line);
    });
    onLines(child.stdout, (line) => {
      const handshake = isSettled ? undefined : parseHandshake(line);
      if (handshake) settle(() => resolve(handshake));
      else if (!isSettled) keep(line);
      else options.log?.(line);
    });
    // If the child has ended, writing to its pipe fails. The error is dropped, because the exit gives the reason.
    child.stdin?.on('error', () => undefined);
    const { memoryLimit, storeFiles } = options;
    const start = { secret: place.secret, socket: place.socket, memoryLimit, storeFiles };
    child.stdin?.write(`${JSON.stringify(start)}\n`);
  });
}

/** Splits a stream into lines; an unfinished line is limited to 64 K characters. */
function onLines(stream: Readable | null, onLine: (line: string) => void): void {
  let rest = '';
  stream?.setEncoding('utf8');
  stream?.on('data', (chunk: string) => {
    const lines = (rest + chunk).split('\n');
    rest = lines.pop()!.slice(0, 64 * 1024);
    for (const line of lines) onLine(line);
  });
}
