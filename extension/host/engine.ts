import * as vscode from 'vscode';
import { findNode } from '#processes/childProcess.ts';
import type { EngineAddress } from '#catalog/engineRequest.ts';
import type { EngineExit, EngineProcess, EngineProcessOptions } from '#catalog/engineProcess.ts';
import type { RestCatalog } from '#catalog/rest/restCatalog.ts';
import type { DirConfig } from '#shared/catalogConfig.ts';
import type { RepairResult } from '#shared/damage.ts';
import { CatalogError, messageOf } from '#shared/errors.ts';
import { logFailure, type Log } from './log.ts';
import { showError } from './messages.ts';
import { setting } from './settings.ts';

/** The bundles that the engine process loads. */
type EngineBundles = Pick<EngineProcessOptions, 'entry' | 'storeFiles'>;

/** A second crash within this time is reported, because the engine would probably crash again. */
const crashWindowMs = 5 * 60_000;

/**
 * The engine process of this window. The process starts with the first request for a directory, or earlier with `warm`.
 * After a crash it starts again once. If it crashes again soon, requests fail until the user restarts it; nothing else
 * is affected. Only the engine process loads the native module, never the extension host.
 */
export class Engine implements vscode.Disposable {
  readonly #bundles: EngineBundles;
  readonly #log: Log;
  readonly #changed = new vscode.EventEmitter<void>();
  /**
   * Fires when the engine crashed or was restarted. Listeners must then request the data of the engine again.
   */
  readonly onDidChange = this.#changed.event;
  readonly #catalogs = new Map<string, RestCatalog>();
  #process: Promise<EngineProcess> | undefined;
  #problem: CatalogError | undefined;
  /** Time of the last crash; 0 if there was none since the user last restarted the engine. */
  #crashedAt = 0;
  #lifetime = new AbortController();

  constructor(bundles: EngineBundles, log: Log) {
    this.#bundles = bundles;
    this.#log = log;
  }

  get problem(): CatalogError | undefined {
    return this.#problem;
  }

  /** The process id after the start; for tests and the log. */
  async pid(): Promise<number | undefined> {
    return (await this.#process)?.handshake.pid;
  }

  /** Starts the engine before the first request. Ignores a failure, because the first request reports it. */
  warm(): void {
    this.#ensure().catch(() => undefined);
  }

  /**
   * Returns the catalog of a directory or an object store. `storageOptions` configures the client of the object store.
   * @throws CatalogError ServiceUnavailable (17) while the engine is down, with a hint how to restart it
   */
  async catalog(root: string, storageOptions?: Readonly<Record<string, string>>): Promise<RestCatalog> {
    const engine = await this.#ensure();
    const key = JSON.stringify([root, storageOptions]);
    const existing = this.#catalogs.get(key);
    if (existing) return existing;
    const catalog = engine.catalog(root, { storageOptions });
    this.#catalogs.set(key, catalog);
    return catalog;
  }

  /**
   * Returns how a child process of this window reaches the engine process; it has a secret.
   * @throws CatalogError as `catalog` does
   */
  async address(): Promise<EngineAddress> {
    return (await this.#ensure()).address;
  }

  /**
   * Finds problems of the catalog in a directory.
   * @throws CatalogError as `catalog` does, and if the directory can't be read
   */
  async inspect(config: DirConfig, signal: AbortSignal): Promise<RepairResult> {
    return (await this.#ensure()).inspect(config, signal);
  }

  /** @throws CatalogError as `inspect` does */
  async repair(config: DirConfig, signal: AbortSignal): Promise<RepairResult> {
    return (await this.#ensure()).repair(config, signal);
  }

  /** @throws CatalogError if the engine does not start */
  async restart(): Promise<void> {
    await this.#stop();
    this.#problem = undefined;
    this.#crashedAt = 0;
    try {
      await this.#ensure();
    } finally {
      this.#changed.fire();
    }
  }

  dispose(): void {
    void this.#stop();
    this.#changed.dispose();
  }

  #ensure(): Promise<EngineProcess> {
    if (this.#problem) return Promise.reject(this.#problem);
    this.#process ??= this.#start(this.#lifetime.signal);
    return this.#process;
  }

  async #start(signal: AbortSignal): Promise<EngineProcess> {
    const nodePath = setting('lanceCatalog.nodePath');
    let engine: EngineProcess | undefined;
    try {
      const node = await findNode({ ...(nodePath && { nodePath }), signal });
      const log = (line: string) => this.#log.info(`engine: ${line}`);
      // Import this module only for the first catalog. HTTP and Arrow are most of the bundle, and a window without a
      // catalog needs neither.
      const client = await import('#catalog/engineProcess.ts');
      engine = await client.EngineProcess.start({ ...this.#bundles, node, log, signal });
      const { pid, node: version, engine: loaded, problem } = engine.handshake;
      if (loaded === null)
        throw new CatalogError('Unsupported', `The native module can't be loaded: ${problem ?? ''}`, '');
      this.#log.info(`the engine ${loaded} runs: pid ${pid}, Node ${version}`);
      const running = engine;
      engine.onDidExit((exit) => this.#ended(running, exit));
      return engine;
    } catch (cause) {
      void engine?.dispose();
      if (signal.aborted) throw cause;
      throw this.#fail(`Can't start the table engine: ${messageOf(cause)}`, cause);
    }
  }

  #ended(engine: EngineProcess, { code, signal, expected }: EngineExit): void {
    if (expected) return;
    void engine.dispose();
    const reason = signal ?? `exit code ${code}`;
    const isFirst = Date.now() - this.#crashedAt > crashWindowMs;
    this.#crashedAt = Date.now();
    if (isFirst) {
      this.#log.warn(`the engine ended (${reason}) and starts again`);
      this.#process = undefined;
      this.#catalogs.clear();
      this.warm();
    } else {
      this.#fail(`The table engine stopped unexpectedly (${reason}).`, undefined);
      void this.#offerRestart();
    }
    this.#changed.fire();
  }

  async #offerRestart(): Promise<void> {
    const [restart, showLog] = ['Restart', 'Show Log'] as const;
    const choice = await showError('The table engine stopped unexpectedly.', restart, showLog);
    if (choice === showLog) this.#log.show();
    // The engine may have been restarted meanwhile. The tree shows the error of a failed restart.
    if (choice === restart && this.#problem) await this.restart().catch(() => undefined);
  }

  #fail(what: string, cause: unknown): CatalogError {
    this.#problem = new CatalogError('ServiceUnavailable', what, 'Run "Restart Lance Engine".', { cause });
    this.#process = undefined;
    this.#catalogs.clear();
    logFailure(this.#log, 'engine', this.#problem);
    return this.#problem;
  }

  async #stop(): Promise<void> {
    this.#lifetime.abort();
    this.#lifetime = new AbortController();
    const running = this.#process;
    this.#process = undefined;
    this.#catalogs.clear();
    const engine = await running?.catch(() => undefined);
    await engine?.dispose();
  }
}
