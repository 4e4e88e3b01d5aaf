import { stat } from 'node:fs/promises';
import * as path from 'node:path';
import * as vscode from 'vscode';
import { isCatalogError } from '#shared/errors.ts';
import type { PanelAction, PanelFailure } from '#shared/protocol/webviewMessages.ts';
import { displayPath } from '#shared/names.ts';
import { messageIn } from '#shared/nextSteps.ts';
import type { Connections } from '../connections/connections.ts';
import type { Connection, DirConnection } from '../explorer/node.ts';
import { askDirectory } from '../host/ask.ts';
import type { TablePlace, TableSource } from './tableSource.ts';

/** What a panel does after an action of the user. */
type AfterAction = 'open' | 'close' | 'nothing';

/** The actions that the panel of a table runs itself. */
export type OwnAction = 'cancel' | 'chooseVersion' | 'showNewest' | 'exportSelected' | 'chooseView' | 'compare';

/** What a panel shows instead of a version that was removed, by an optimization or by another program. */
const lostVersion = (place: TablePlace): PanelFailure => ({
  title: place.version === undefined ? 'This version no longer exists' : `Version ${place.version} no longer exists`,
  message: `It is no longer among the versions of "${displayPath(place.path, place.table)}": old versions were removed.`,
  actions: ['showNewest', 'chooseVersion'],
});

/** Explains why a panel can't show its table, and runs the action that the user chooses. */
export class PanelFailures {
  readonly #connections: Pick<Connections, 'list' | 'moveDirectory' | 'remove'>;

  constructor(connections: Pick<Connections, 'list' | 'moveDirectory' | 'remove'>) {
    this.#connections = connections;
  }

  /** Returns what a panel shows instead of a table that can't be opened. */
  async explain({ title, place, failureTitle }: TableSource, error: unknown): Promise<PanelFailure> {
    const missing = await this.missingFolder(place);
    if (missing) return missing;
    if (place && isCatalogError(error, 'VersionNotFound')) return lostVersion(place);
    return {
      title: failureTitle ?? `Can't open ${title}`,
      message: messageIn('editor', error),
      actions: place ? ['retry'] : [],
    };
  }

  /** Returns what a panel shows instead of rows that can no longer be read; undefined if they may be read again. */
  async lost(source: TableSource, error: unknown): Promise<PanelFailure | undefined> {
    const { place } = source;
    const missing = await this.missingFolder(place);
    if (missing || !place) return missing;
    if (isCatalogError(error, 'VersionNotFound')) return lostVersion(place);
    const full = displayPath(place.path, place.table);
    if (isCatalogError(error, 'TableNotFound') || isCatalogError(error, 'NamespaceNotFound'))
      return {
        title: 'The table no longer exists',
        message: `"${full}" was dropped or renamed after it was opened here.`,
        actions: ['retry'],
      };
    if (!isCatalogError(error, 'ConcurrentModification')) return undefined;
    return {
      title: 'The table was created again',
      message: `"${full}" was dropped and created again after it was opened here, so that these rows no longer exist.`,
      actions: ['showNewest', 'chooseVersion'],
    };
  }

  /** Returns the failure if the folder of a table's connection no longer exists. */
  async missingFolder(place: TablePlace | undefined): Promise<PanelFailure | undefined> {
    const connection = this.#connectionOf(place);
    if (connection?.kind !== 'dir' || !path.isAbsolute(connection.root) || (await isFolder(connection.root)))
      return undefined;
    return {
      title: `The folder is missing: ${connection.root}`,
      message: `The connection "${connection.name}" can't be opened until the folder is back.`,
      actions:
        connection.source === 'person' ? ['retry', 'chooseFolder', 'removeConnection'] : ['retry', 'openSettings'],
    };
  }

  /** @throws CatalogError if the connection can't be changed */
  async act(action: Exclude<PanelAction, OwnAction>, place: TablePlace | undefined): Promise<AfterAction> {
    const connection = this.#connectionOf(place);
    switch (action) {
      case 'retry':
        return 'open';
      case 'openSettings':
        await vscode.commands.executeCommand('workbench.action.openSettings', 'lanceCatalog.defaultConnections');
        return 'nothing';
      case 'chooseFolder':
        return connection?.kind === 'dir' ? this.#chooseFolder(connection) : 'nothing';
      case 'removeConnection':
        if (connection) await this.#connections.remove(connection.name);
        return 'close';
    }
  }

  async #chooseFolder({ name }: DirConnection): Promise<AfterAction> {
    const root = await askDirectory(`Folder of the connection "${name}"`, 'Choose Folder');
    if (root === undefined) return 'nothing';
    await this.#connections.moveDirectory(name, root);
    return 'open';
  }

  #connectionOf(place: TablePlace | undefined): Connection | undefined {
    return this.#connections.list().find(({ name }) => name === place?.connection);
  }
}

const isFolder = async (root: string): Promise<boolean> =>
  (await stat(root).catch(() => undefined))?.isDirectory() === true;
