import type { ChildProcess } from 'node:child_process';
import { randomBytes, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { request, type IncomingMessage } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { json } from 'node:stream/consumers';
import type { DirConfig } from '#shared/catalogConfig.ts';
import { isRepairResult, type RepairResult } from '#shared/damage.ts';
import { CatalogError, kindOfCode } from '#shared/errors.ts';
import { isRecord } from '#shared/records.ts';
import { startNode, type NodeRuntime } from '#processes/childProcess.ts';
import { parseHandshake, type EngineHandshake } from './engineHandshake.ts';
import { identityOfRoot } from './identity.ts';
import { RestCatalog } from '#catalog/rest/restCatalog.ts';
import { isSecretOption } from './identity.ts';
import { engineHost, repairPath, rootHeader, storageOptionsHeader } from './contract.ts';

export type { EngineHandshake } from './engineHandshake.ts';

/** How an engine process ended; `expected` when it was told to. */
export type EngineExit = { code: number | null; signal: NodeJS.Signals | null; expected: boolean };

export type EngineProcessOptions = {
  /** The bundle to run. */
  entry: string;
  node: NodeRuntime;
  /** Lines that the process writes for the log. */
  log?: ((line: string) => void) | undefined;
  signal?: AbortSignal | undefined;
};

/** How long a process may take to say that it listens: loading 200 MB from a cold disk takes seconds. */
const startTimeout = 20_000;
const maxKept = 4096;
/** How much later than the end of its connections the end of a process may be told, milliseconds. */
const exitDelay = 500;
/** How it fails to connect to a socket at which nobody listens any more. */
const noConnection: ReadonlySet<unknown> = new Set(['ECONNREFUSED', 'ENOENT', 'UND_ERR_CONNECT_TIMEOUT']);

/**
 * The engine in a process of its own, so that 200 MB of native code and its crashes are not in this one. Reached by the
 * REST contract over a socket in a folder that only this user can enter; ends when it is disposed or this process ends.
 */
export class EngineProcess {
  readonly handshake: EngineHandshake;
  readonly #child: ChildProcess;
  readonly #socket: string;
  readonly #secret: string;
  readonly #folder: string | undefined;
  readonly #listeners = new Set<(exit: EngineExit) => void>();
  readonly #catalogs = new Set<RestCatalog>();
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
   * @throws CatalogError ServiceUnavailable (17) with what came out of it, when it ends or says nothing within 20 s
   */
  static async start(options: EngineProcessOptions): Promise<EngineProcess> {
    options.signal?.throwIfAborted();
    const place = await makePlace();
    const child = startNode({
      node: options.node,
      entry: options.entry,
      env: memoryEnv(),
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    try {
      const handshake = await handshakeOf(child, place, options);
      return new EngineProcess(child, handshake, place);
    } catch (error) {
      child.kill('SIGKILL');
      await removeFolder(place.folder);
      throw error;
    }
  }

  /**
   * The catalog in a directory or an object store; `storageOptions` are the settings of the store, named as its own client
   * names them. Nothing is asked yet: a root that can't be read fails at the first call.
   */
  catalog(root: string, options: { storageOptions?: Readonly<Record<string, string>> | undefined } = {}): RestCatalog {
    const { storageOptions = {} } = options;
    const catalog: RestCatalog = new RestCatalog(
      {
        uri: `http://${engineHost}`,
        name: 'The engine process',
        socketPath: this.#socket,
        isOurs: true,
        headers: this.#headersFor({ root, storageOptions }),
        secrets: [this.#secret, ...secretsOf(storageOptions)],
        explain: (cause) => this.#explain(cause),
      },
      {
        location: root,
        identity: identityOfRoot(root, storageOptions),
        onClose: () => void this.#catalogs.delete(catalog),
      },
    );
    this.#catalogs.add(catalog);
    return catalog;
  }

  /** Says what is wrong with the catalog in a directory or an object store, and changes nothing. @throws CatalogError if it can't be read */
  inspect(config: DirConfig, signal?: AbortSignal): Promise<RepairResult> {
    return this.#repair('GET', config, signal);
  }

  /** Repairs the catalog in a directory. @throws CatalogError as `inspect` */
  repair(config: DirConfig, signal?: AbortSignal): Promise<RepairResult> {
    return this.#repair('POST', config, signal);
  }

  /** What a request says of the caller and of the catalog that it is for. */
  #headersFor({ root, storageOptions = {} }: DirConfig): Record<string, string> {
    const hasOptions = Object.keys(storageOptions).length > 0;
    return {
      authorization: `Bearer ${this.#secret}`,
      [rootHeader]: encodeURIComponent(root),
      ...(hasOptions && { [storageOptionsHeader]: encodeURIComponent(JSON.stringify(storageOptions)) }),
    };
  }

  async #repair(method: 'GET' | 'POST', config: DirConfig, signal: AbortSignal | undefined): Promise<RepairResult> {
    const headers = { host: engineHost, ...this.#headersFor(config) };
    const asked = request({ socketPath: this.#socket, path: repairPath, method, headers, ...(signal && { signal }) });
    let response: IncomingMessage;
    let body: unknown;
    try {
      asked.end();
      [response] = (await once(asked, 'response')) as [IncomingMessage];
      body = await json(response);
    } catch (cause) {
      signal?.throwIfAborted();
      throw await this.#explain(cause);
    }
    if (response.statusCode === 200 && isRepairResult(body)) return body;
    const { error, code, detail } = isRecord(body) ? body : {};
    throw new CatalogError(kindOfCode(code), String(error), typeof detail === 'string' ? detail : '');
  }

  /** Whether the process runs. */
  get isRunning(): boolean {
    return this.#exit === undefined;
  }

  /** Calls when the process ends, at once when it has. Returns how to stop listening. */
  onDidExit(listener: (exit: EngineExit) => void): { dispose(): void } {
    if (this.#exit) listener(this.#exit);
    else this.#listeners.add(listener);
    return { dispose: () => void this.#listeners.delete(listener) };
  }

  /** Ends the process; calls in flight fail. Resolves when it is gone. */
  async dispose(): Promise<void> {
    this.#disposed = true;
    const gone = new Promise<void>((resolve) => void this.onDidExit(() => resolve()));
    this.#child.stdin?.end();
    const late = setTimeout(() => this.#child.kill('SIGKILL'), 3000);
    await gone;
    clearTimeout(late);
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
   * A connection breaks when the process ends, though its exit may be told a moment later. It also breaks off an answer
   * that it cannot finish, such as a scan that fails midway, and goes on.
   */
  async #explain(cause: unknown): Promise<CatalogError> {
    const exit = await this.#exitSoon();
    const [what, hint] = exit
      ? [`ended ${exit.signal ? `by ${exit.signal}` : `with code ${exit.code}`}`, 'Restart it and try again.']
      : isRecord(cause) && noConnection.has(cause['code'])
        ? ['does not answer', 'Restart it and try again.']
        : ['broke off its answer', 'Try again; its log says why.'];
    return new CatalogError('ServiceUnavailable', `The engine process ${what}.`, hint, { cause });
  }

  /** How the process ended, if it has, or does within a moment. */
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

/** The values of settings that hold a secret by their names; the others belong in an error, a region for instance. */
const secretsOf = (options: Readonly<Record<string, string>>): string[] =>
  Object.entries(options)
    .filter(([name]) => isSecretOption(name))
    .map(([, value]) => value);

/**
 * What keeps the process small while it scans for a reader that is slower than the disk, an editor beside it. Both are
 * looked at when it starts. Glibc keeps what the engine's threads free in a pool for each of them, and the engine reads
 * files ahead: at 50 million rows that made 580 MB, and one of each 180 to 270 MB in the same time. Who sets them himself is
 * left alone.
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
  // mkdtemp makes it 0700. A socket's path is limited to about 100 bytes, so the names are short.
  const folder = await mkdtemp(join(tmpdir(), 'lance-engine-'));
  return { socket: join(folder, 's'), secret, folder };
}

async function removeFolder(folder: string | undefined): Promise<void> {
  if (folder !== undefined) await rm(folder, { recursive: true, force: true });
}

/** Tells the child where to listen and waits for its line. */
function handshakeOf(child: ChildProcess, place: Place, options: EngineProcessOptions): Promise<EngineHandshake> {
  return new Promise((resolve, reject) => {
    let said = '';
    let isSettled = false;
    const timer = setTimeout(() => fail(`said nothing for ${startTimeout / 1000} s`), startTimeout);
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
            'See the log, and check lanceCatalog.nodePath.',
            { cause },
          ),
        );
      });
    const keep = (line: string) => {
      if (said.length < maxKept) said += `${line}\n`;
    };
    options.signal?.addEventListener('abort', abort, { once: true });
    child.once('error', (cause) => fail(`does not start (${cause.message})`, cause));
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
    // A child that is gone already closes the pipe; its exit says more.
    child.stdin?.on('error', () => undefined);
    child.stdin?.write(`${JSON.stringify({ secret: place.secret, socket: place.socket })}\n`);
  });
}

/** Whole lines of a stream, however it is cut; a line is bounded. */
function onLines(stream: Readable | null, onLine: (line: string) => void): void {
  let rest = '';
  stream?.setEncoding('utf8');
  stream?.on('data', (chunk: string) => {
    const lines = (rest + chunk).split('\n');
    rest = lines.pop()!.slice(0, 64 * 1024);
    for (const line of lines) onLine(line);
  });
}
