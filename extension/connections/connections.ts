import { homedir } from 'node:os';
import * as vscode from 'vscode';
import { CatalogError } from '#shared/errors.ts';
import type { Secrets, ServerSecrets } from '../host/secrets.ts';
import { onDidChangeSetting, setting } from '../host/settings.ts';
import type { State } from '../host/state.ts';
import {
  absoluteRoot,
  connectionNameProblem,
  readConnections,
  secretOwner,
  storedConnection,
  checkConnection,
  type RootBase,
} from './connectionRules.ts';
import type { Connection, DirConnection, RestConnection } from '../explorer/node.ts';

/** A server connection as the user enters it; `secrets` go to the secret storage. */
export type NewServer = {
  name: string;
  uri: string;
  database?: string;
  endpoint?: string;
  ca?: string;
  secrets: ServerSecrets;
};

/** A connection before and after the user has renamed it, or has changed its target. */
export type ReplacedConnection = { readonly before: Connection; readonly after: Connection };

/**
 * The connections: first the connections of the setting, then the connections that the user added. If two have the same
 * name, the connection of the setting is listed.
 */
export class Connections implements vscode.Disposable {
  readonly #state: State;
  readonly #secrets: Secrets;
  readonly #changed = new vscode.EventEmitter<void>();
  readonly #subscriptions: vscode.Disposable[];
  /** The stored connections as this window last listed them. */
  #listed: string;
  readonly #replaced = new vscode.EventEmitter<ReplacedConnection>();
  readonly onDidChange = this.#changed.event;
  /** Fires before `onDidChange`, for what is kept for the tables of a connection. */
  readonly onDidReplace = this.#replaced.event;

  constructor(state: State, secrets: Secrets) {
    this.#state = state;
    this.#secrets = secrets;
    this.#listed = this.#stored();
    const changed = () => this.#changed.fire();
    this.#subscriptions = [
      this.#changed,
      this.#replaced,
      onDidChangeSetting('lanceCatalog.defaultConnections', changed),
      // Fire if another window changes a key, because the new key is also valid in this window.
      secrets.onDidChange(changed),
      vscode.window.onDidChangeWindowState(({ focused }) => focused && this.readAgain()),
    ];
  }

  /**
   * Lists connections that another window has added, changed or removed. VS Code reports no change of the state that all
   * windows share, so this is called when the user returns to the window or to the view.
   */
  readAgain(): void {
    const stored = this.#stored();
    if (stored === this.#listed) return;
    this.#listed = stored;
    this.#changed.fire();
  }

  list(): Connection[] {
    const shared = readConnections(setting('lanceCatalog.defaultConnections'), 'setting', rootBase());
    const names = new Set(shared.map((one) => one.name));
    return [...shared, ...this.#own().filter((one) => !names.has(one.name))];
  }

  /** @throws CatalogError NamespaceNotFound (1) if the name is not in the list */
  get(name: string): Connection {
    const connection = this.list().find((one) => one.name === name);
    if (connection) return connection;
    throw new CatalogError(
      'NamespaceNotFound',
      `There is no connection "${name}".`,
      'Add it in the Lance Catalog view.',
    );
  }

  /** Whether the list contains a directory, which requires the engine. */
  get needEngine(): boolean {
    return this.list().some((one) => one.kind === 'dir');
  }

  secretsOf(connection: RestConnection): Promise<ServerSecrets> {
    return this.#secrets.get(secretOwner(connection));
  }

  /**
   * Adds a directory. Stores the absolute path, because every window lists the directory.
   * @throws CatalogError InvalidInput (13) for an empty or used name, and a root that can't be resolved in this
   * window
   */
  async add(name: string, root: string): Promise<DirConnection> {
    this.#checkName(name);
    const connection: DirConnection = { name, kind: 'dir', root: absoluteRoot(root, rootBase()), source: 'person' };
    await this.#store([...this.#own(), connection]);
    return connection;
  }

  /**
   * Changes the root of a directory that the user has added.
   * @throws CatalogError InvalidInput (13) for a directory from the setting
   */
  async moveDirectory(name: string, root: string): Promise<void> {
    const before = this.get(name);
    refuseShared(before);
    if (before.kind !== 'dir') return;
    const after: DirConnection = { name, kind: 'dir', root: absoluteRoot(root, rootBase()), source: 'person' };
    await this.#replace(before, after);
  }

  /** Adds a server. @throws CatalogError InvalidInput (13) for an empty or used name, or an invalid address */
  async addServer(server: NewServer): Promise<RestConnection> {
    this.#checkName(server.name);
    const connection = serverOf(server);
    await this.#secrets.set(connection, server.secrets);
    await this.#store([...this.#own(), connection]);
    return connection;
  }

  /**
   * Replaces a server that the user has added.
   * @throws CatalogError InvalidInput (13) for a server from the setting, a used name, or an invalid address
   */
  async replaceServer(name: string, server: NewServer): Promise<RestConnection> {
    const before = this.get(name);
    refuseShared(before);
    if (server.name !== name) this.#checkName(server.name);
    const connection = serverOf(server);
    if (before.kind === 'rest') await this.#secrets.delete(before);
    await this.#secrets.set(connection, server.secrets);
    await this.#replace(before, connection);
    return connection;
  }

  /** Replaces or deletes the API key of a server; its token and headers stay. */
  async setApiKey(connection: RestConnection, apiKey: string): Promise<void> {
    const owner = secretOwner(connection);
    await this.#secrets.set(owner, { ...(await this.#secrets.get(owner)), apiKey });
    this.#changed.fire();
  }

  /**
   * Removes a connection and its secrets; its tables stay.
   * @throws CatalogError InvalidInput (13) for a connection from the setting
   */
  async remove(name: string): Promise<void> {
    const connection = this.get(name);
    refuseShared(connection);
    if (connection.kind === 'rest') await this.#secrets.delete(connection);
    await this.#store(this.#own().filter((one) => one.name !== name));
  }

  dispose(): void {
    for (const subscription of this.#subscriptions) subscription.dispose();
  }

  #checkName(name: string): void {
    const problem = connectionNameProblem(name, this.list());
    if (problem) throw new CatalogError('InvalidInput', problem, 'Choose another name.');
  }

  #own(): Connection[] {
    // Every window reads this list, so a root must not depend on the folder of this window.
    return readConnections(this.#state.connections(), 'person', { home: homedir() });
  }

  #stored(): string {
    return JSON.stringify(this.#own());
  }

  async #replace(before: Connection, after: Connection): Promise<void> {
    this.#replaced.fire({ before, after });
    await this.#store(this.#own().map((one) => (one.name === before.name ? after : one)));
  }

  async #store(connections: readonly Connection[]): Promise<void> {
    await this.#state.setConnections(connections.map(storedConnection));
    this.#listed = this.#stored();
    this.#changed.fire();
  }
}

/** @throws CatalogError InvalidInput (13) for an invalid address */
function serverOf({ secrets, ...server }: NewServer): RestConnection {
  const headers = Object.keys(secrets.headers ?? {});
  const [read] = readConnections([{ ...server, headers }], 'person', { home: homedir() });
  if (read?.kind === 'rest') return checkConnection(read);
  throw new CatalogError('InvalidInput', 'A server connection needs a name and an address.', 'Set both.');
}

function refuseShared({ name, source }: Connection): void {
  if (source === 'person') return;
  throw new CatalogError(
    'InvalidInput',
    `The connection "${name}" comes from the setting lanceCatalog.defaultConnections.`,
    'Change that setting.',
  );
}

export const rootBase = (): RootBase => ({
  home: homedir(),
  folder: vscode.workspace.workspaceFolders?.[0]?.uri.fsPath,
});
