import * as vscode from 'vscode';
import type { Catalog } from '#client/catalog.ts';
import { EngineProcess } from '#client/engineProcess.ts';
import { CatalogError } from '#shared/errors.ts';
import { logFailure, type Log } from './log.ts';
import { setting } from './settings.ts';

/**
 * The one engine process of this window. It starts when a table is first asked for; when it dies, what needs it says so
 * until it is restarted, and nothing else stops. The native module is only ever in that process, never in this one.
 */
export class Engine implements vscode.Disposable {
  readonly #entry: string;
  readonly #log: Log;
  readonly #changed = new vscode.EventEmitter<void>();
  /** The engine ended by itself, or was restarted: what was loaded from it is to be asked for again. */
  readonly onDidChange = this.#changed.event;
  readonly #catalogs = new Map<string, Catalog>();
  #process: Promise<EngineProcess> | undefined;
  #problem: CatalogError | undefined;
  #lifetime = new AbortController();

  constructor(entry: string, log: Log) {
    this.#entry = entry;
    this.#log = log;
  }

  /** Why there is no engine, until it is restarted. */
  get problem(): CatalogError | undefined {
    return this.#problem;
  }

  /** The process id, once it runs; for tests and the log. */
  async pid(): Promise<number | undefined> {
    return (await this.#process)?.pid;
  }

  /** Starts the engine ahead of the first request. What goes wrong is told by the request. */
  warm(): void {
    this.#ensure().catch(() => undefined);
  }

  /**
   * The catalog over a directory.
   * @throws CatalogError ServiceUnavailable (17) while the engine is down, with what brings it back
   */
  async catalog(root: string): Promise<Catalog> {
    const engine = await this.#ensure();
    const existing = this.#catalogs.get(root);
    if (existing) return existing;
    const catalog = engine.catalog(root);
    this.#catalogs.set(root, catalog);
    return catalog;
  }

  /** Ends the engine that runs, if any, and starts another. @throws CatalogError when that does not start */
  async restart(): Promise<void> {
    await this.#stop();
    this.#problem = undefined;
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
    try {
      const engine = await EngineProcess.start({ entry: this.#entry, ...(nodePath && { nodePath }), signal });
      this.#log.info(`the engine runs: pid ${engine.pid}, Node ${engine.handshake.node}`);
      void engine.exited.then((reason) => this.#ended(engine, reason));
      return engine;
    } catch (cause) {
      if (!signal.aborted) this.#fail('The Lance engine did not start.', cause);
      throw this.#problem ?? cause;
    }
  }

  #ended(engine: EngineProcess, reason: string): void {
    void this.#process?.then((current) => {
      if (current !== engine || this.#lifetime.signal.aborted) return;
      this.#fail(`The Lance engine ended: ${reason}.`, undefined);
      this.#changed.fire();
    });
  }

  #fail(what: string, cause: unknown): void {
    this.#problem = new CatalogError('ServiceUnavailable', what, 'Run "Restart Lance Engine".', { cause });
    this.#process = undefined;
    this.#catalogs.clear();
    logFailure(this.#log, 'engine', this.#problem);
  }

  async #stop(): Promise<void> {
    this.#lifetime.abort();
    this.#lifetime = new AbortController();
    const running = this.#process;
    this.#process = undefined;
    this.#catalogs.clear();
    const engine = await running?.catch(() => undefined);
    await engine?.close();
  }
}
