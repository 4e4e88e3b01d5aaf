import { homedir } from 'node:os';
import * as vscode from 'vscode';
import { CatalogError } from '#shared/errors.ts';
import type { State } from '../host/state.ts';
import { onDidChangeSetting, setting } from '../host/settings.ts';
import { absoluteRoot, connectionNameProblem, readConnections, type RootBase } from './connectionRules.ts';
import type { Connection } from './node.ts';

/** The list of connections: those of the setting first, then the person's own. Names are unique. */
export class Connections implements vscode.Disposable {
  readonly #state: State;
  readonly #changed = new vscode.EventEmitter<void>();
  readonly #onSetting: vscode.Disposable;
  readonly onDidChange = this.#changed.event;

  constructor(state: State) {
    this.#state = state;
    this.#onSetting = onDidChangeSetting('lanceCatalog.defaultConnections', () => this.#changed.fire());
  }

  list(): Connection[] {
    const shared = readConnections(setting('lanceCatalog.defaultConnections'), 'setting', rootBase());
    const names = new Set(shared.map((one) => one.name));
    return [...shared, ...this.#own().filter((one) => !names.has(one.name))];
  }

  /** @throws CatalogError NamespaceNotFound (1) for a name that is not in the list */
  get(name: string): Connection {
    const connection = this.list().find((one) => one.name === name);
    if (connection) return connection;
    throw new CatalogError(
      'NamespaceNotFound',
      `There is no connection "${name}".`,
      'Add it in the Lance Catalog view.',
    );
  }

  /**
   * Adds a connection; what is stored is the absolute path, since it is listed in every window.
   * @throws CatalogError InvalidInput (13) for an empty name or one in use, and a root that is no place in this window
   */
  async add(name: string, root: string): Promise<Connection> {
    const problem = connectionNameProblem(name, this.list());
    if (problem) throw new CatalogError('InvalidInput', problem, 'Choose another name.');
    const connection: Connection = { name, kind: 'dir', root: absoluteRoot(root, rootBase()), source: 'person' };
    await this.#store([...this.#own(), connection]);
    return connection;
  }

  /** Forgets a connection; what it points to stays. @throws CatalogError InvalidInput (13) for one of the setting */
  async remove(name: string): Promise<void> {
    if (this.get(name).source === 'setting') {
      throw new CatalogError(
        'InvalidInput',
        `The connection "${name}" comes from the setting lanceCatalog.defaultConnections.`,
        'Take it out of that setting.',
      );
    }
    await this.#store(this.#own().filter((one) => one.name !== name));
  }

  dispose(): void {
    this.#onSetting.dispose();
    this.#changed.dispose();
  }

  #own(): Connection[] {
    // Stored for every window, so none's folder counts.
    return readConnections(this.#state.connections(), 'person', { home: homedir() });
  }

  async #store(connections: readonly Connection[]): Promise<void> {
    await this.#state.setConnections(connections.map(({ name, root }) => ({ name, root })));
    this.#changed.fire();
  }
}

/** Where roots that are typed or set in this window start. */
export const rootBase = (): RootBase => ({
  home: homedir(),
  folder: vscode.workspace.workspaceFolders?.[0]?.uri.fsPath,
});
