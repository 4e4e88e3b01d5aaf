import { readFile } from 'node:fs/promises';
import type * as vscode from 'vscode';
import { CatalogError } from '#shared/errors.ts';
import { connectNamespace, notRegistered, type Implementations } from '#catalog/connect.ts';
import type { RestCatalog } from '#catalog/rest/restCatalog.ts';
import type { CatalogConfig, DirConfig, RestConfig } from '#shared/catalogConfig.ts';
import { logFailure, type Log } from '../host/log.ts';
import { onDidChangeProxy, proxySettings } from '../host/proxy.ts';
import type { ServerSecrets } from '../host/secrets.ts';
import { checkConnection } from './connectionRules.ts';
import type { Connections } from './connections.ts';
import type { DirConnection, RestConnection } from '../explorer/node.ts';
import { restConfigOf, type ServerWay } from './restRules.ts';

type Open = { config: string; catalog: Promise<RestCatalog> };

/**
 * The catalogs of the connections, opened by `connectNamespace`. The engine process opens directories. This process
 * opens servers. Each connection has one catalog, which is replaced when the address or secrets of the connection
 * change.
 */
export class Catalogs implements vscode.Disposable {
  readonly #connections: Connections;
  readonly #log: Log;
  readonly #open = new Map<string, Open>();
  readonly #subscriptions: vscode.Disposable[];

  constructor(connections: Connections, log: Log) {
    this.#connections = connections;
    this.#log = log;
    this.#subscriptions = [connections.onDidChange(() => this.#sweep()), onDidChangeProxy(() => this.#closeAll())];
  }

  /**
   * Returns the catalog of a connection.
   * @throws CatalogError NamespaceNotFound (1) for a name that is not in the list, InvalidInput (13) for a connection
   * that can't be opened in this window, Unsupported (0) for an implementation that is not registered,
   * ServiceUnavailable (17) while the engine is down
   */
  async get(name: string): Promise<RestCatalog> {
    const connection = checkConnection(this.#connections.get(name));
    if (connection.kind === 'other') throw notRegistered(connection.implementation);
    if (connection.kind === 'dir') return this.#connect('dir', dirConfigOf(connection));
    const config = await this.#restConfig(connection);
    const written = JSON.stringify(config);
    const existing = this.#open.get(name);
    if (existing?.config === written) return existing.catalog;
    this.#close(name);
    const catalog = this.#connect('rest', config);
    this.#open.set(name, { config: written, catalog });
    return catalog;
  }

  /** Returns the configuration with which a kernel connects; it contains secrets. @throws CatalogError as `get` does */
  async config(name: string): Promise<CatalogConfig> {
    const connection = checkConnection(this.#connections.get(name));
    if (connection.kind === 'other') throw notRegistered(connection.implementation);
    if (connection.kind === 'dir') return { implementation: 'dir', ...dirConfigOf(connection) };
    const keyHint = `To use another key, choose "Update API Key…" on "${name}" in the Lance Catalog view, then restart the kernel.`;
    return { implementation: 'rest', keyHint, ...(await this.#restConfig(connection)) };
  }

  /** Reads the first page of a directory's list. @throws CatalogError if the read fails */
  async checkDirectory(root: string): Promise<void> {
    const catalog = await this.#connect('dir', { root });
    await catalog.listNamespaces([], { limit: 1 });
  }

  /** Reads the first page of a server's list. @throws CatalogError if the request fails */
  async checkServer(server: ServerWay, secrets: ServerSecrets, signal: AbortSignal): Promise<void> {
    // A user waits for this check, so don't retry, and use short timeouts.
    const impatient = { retries: 0, timeouts: { connect: 10_000, headers: 30_000, body: 30_000 } };
    const config = restConfigOf(server, secrets, proxySettings(), await certificatesOf(server));
    const catalog = await this.#connect('rest', { ...config, ...impatient });
    try {
      await catalog.listNamespaces([], { limit: 1, signal });
    } finally {
      await catalog.close();
    }
  }

  dispose(): void {
    for (const subscription of this.#subscriptions) subscription.dispose();
    this.#closeAll();
  }

  async #restConfig(connection: RestConnection): Promise<RestConfig> {
    const secrets = await this.#connections.secretsOf(connection);
    return restConfigOf(connection, secrets, proxySettings(), await certificatesOf(connection));
  }

  /** Opens a catalog and requires that it returns rows as Arrow bytes, as both implementations registered here do. */
  async #connect<N extends keyof Implementations>(implementation: N, config: Implementations[N]): Promise<RestCatalog> {
    const catalog = await connectNamespace(implementation, config, { log: (line) => this.#log.info(line) });
    // Import this module only for the first catalog. HTTP and Arrow are most of the bundle, and a window without a
    // catalog needs neither.
    const client = await import('#catalog/rest/restCatalog.ts');
    if (catalog instanceof client.RestCatalog) return catalog;
    throw new CatalogError(
      'Internal',
      `Can't show catalogs of "${implementation}": they don't return rows as Arrow bytes.`,
      '',
    );
  }

  /** Closes the catalogs of removed connections. */
  #sweep(): void {
    const names = new Set(this.#connections.list().map((one) => one.name));
    for (const name of this.#open.keys()) if (!names.has(name)) this.#close(name);
  }

  #closeAll(): void {
    for (const name of this.#open.keys()) this.#close(name);
  }

  #close(name: string): void {
    const open = this.#open.get(name);
    if (!open) return;
    this.#open.delete(name);
    open.catalog
      .then((catalog) => catalog.close())
      .catch((error: unknown) => logFailure(this.#log, `closing the connection "${name}"`, error));
  }
}

export const dirConfigOf = ({ root, properties }: DirConnection): DirConfig => ({ ...properties, root });

/** Reads the certificate file of a connection. @throws CatalogError InvalidInput (13) if the file can't be read */
async function certificatesOf({ ca }: ServerWay): Promise<string | undefined> {
  if (ca === undefined) return undefined;
  try {
    return await readFile(ca, 'utf8');
  } catch (cause) {
    const hint = 'Correct its path with "Edit Connection…".';
    throw new CatalogError('InvalidInput', `Can't read the certificate file "${ca}".`, hint, { cause });
  }
}
