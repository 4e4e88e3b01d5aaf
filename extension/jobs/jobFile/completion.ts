import * as vscode from 'vscode';
import type { Location } from 'jsonc-parser';
import { isAbort } from '#shared/errors.ts';
import type { Catalogs } from '../../connections/catalogs.ts';
import type { Connections } from '../../connections/connections.ts';
import { connectionLabel } from '../../connections/connectionRules.ts';
import type { ClusterProfiles } from '../../cluster/clusterProfiles.ts';
import { logFailure, type Log } from '../../host/log.ts';
import { asRecord } from '#shared/records.ts';
import type { TablePlace } from '../../panels/tableSource.ts';
import { readJobFile } from '#shared/jobs/jobFile.ts';
import { folderOfFile } from './jobFiles.ts';
import { tableOfFile } from './request.ts';
import type { RayConnections } from '../rayAddresses.ts';

type JobFileCompletionDeps = {
  readonly log: Log;
  readonly connections: Pick<Connections, 'list'>;
  readonly catalogs: Pick<Catalogs, 'get'>;
  readonly profiles: Pick<ClusterProfiles, 'list'>;
  readonly rays: Pick<RayConnections, 'list'>;
};

type Name = { readonly name: string; readonly detail?: string };

/** Limit of the listed names per level of a catalog. */
const maxNames = 200;

/** Completes names in job files that the JSON schema can't list: connections, tables, columns, clusters. */
export class JobFileCompletion implements vscode.CompletionItemProvider {
  readonly #parts: JobFileCompletionDeps;

  constructor(parts: JobFileCompletionDeps) {
    this.#parts = parts;
  }

  async provideCompletionItems(
    document: vscode.TextDocument,
    position: vscode.Position,
    token: vscode.CancellationToken,
  ): Promise<vscode.CompletionItem[]> {
    const { getLocation, parse } = await import('jsonc-parser');
    const location = getLocation(document.getText(), document.offsetAt(position));
    if (location.isAtPropertyKey) return [];
    const controller = new AbortController();
    const listening = token.onCancellationRequested(() => controller.abort());
    try {
      const value: unknown = parse(document.getText());
      const names = await this.#names(location, value, document.uri, controller.signal);
      const range = rangeOf(document, location, position);
      return names.map((one) => itemOf(one, range));
    } catch (error) {
      // Completion starts while the user types, so a failing catalog is only logged.
      if (!isAbort(error)) logFailure(this.#parts.log, 'completing a job file', error);
      return [];
    } finally {
      listening.dispose();
    }
  }

  async #names({ path }: Location, value: unknown, uri: vscode.Uri, signal: AbortSignal): Promise<readonly Name[]> {
    const { connections, profiles, rays } = this.#parts;
    switch (path.join('.')) {
      case 'connection':
        return connections.list().map((one) => ({ name: one.name, detail: connectionLabel(one) }));
      case 'ray.profile':
        return profiles.list().map(({ name }) => ({ name }));
      case 'ray.address':
        return rays.list().map((name) => ({ name }));
      case 'table':
        return this.#tables(
          placeIn(this.#parts, { ...asRecord(value), table: 'x' }, uri),
          asRecord(value)['table'],
          signal,
        );
      case 'column':
      case 'key':
      case 'function.inputs':
        return this.#columns(placeIn(this.#parts, value, uri), signal);
      default:
        return path[0] === 'function' && path[1] === 'inputs'
          ? this.#columns(placeIn(this.#parts, value, uri), signal)
          : [];
    }
  }

  /** Returns tables and namespaces of the level being typed: `shop/eu/` lists the contents of `shop/eu`. */
  async #tables(place: TablePlace | undefined, typed: unknown, signal: AbortSignal): Promise<readonly Name[]> {
    if (!place) return [];
    const above = typeof typed === 'string' ? typed.split('/').slice(0, -1) : [];
    const catalog = await this.#parts.catalogs.get(place.connection);
    const limit = maxNames;
    const [{ tables }, { namespaces }] = await Promise.all([
      catalog.listTables(above, { limit, signal }),
      catalog.listNamespaces(above, { limit, signal }),
    ]);
    const whole = (name: string): string => [...above, name].join('/');
    return [
      ...tables.map((name) => ({ name: whole(name), detail: 'table' })),
      ...namespaces.map((name) => ({ name: `${whole(name)}/`, detail: 'namespace' })),
    ];
  }

  async #columns(place: TablePlace | undefined, signal: AbortSignal): Promise<readonly Name[]> {
    if (!place) return [];
    const catalog = await this.#parts.catalogs.get(place.connection);
    const { columns } = await catalog.describeTable(place.table, { namespacePath: place.path, signal });
    return columns.map(({ name, type }) => ({ name, detail: type }));
  }
}

/** Returns the table that an incomplete job file names, if the file has enough fields to identify the table. */
function placeIn(parts: JobFileCompletionDeps, value: unknown, uri: vscode.Uri): TablePlace | undefined {
  const { connection, catalog, database, table } = asRecord(value);
  const said = Object.entries({ connection, catalog, database, table }).filter(([, one]) => one !== undefined);
  const { file } = readJobFile({ ...Object.fromEntries(said), column: 'x' });
  if (!file) return undefined;
  const meant = tableOfFile(parts, file, folderOfFile(uri));
  return meant.kind === 'connected' ? meant.place : undefined;
}

/** Returns the range of the string being typed, with its quotes; an empty range if no string is being typed. */
function rangeOf(document: vscode.TextDocument, { previousNode }: Location, position: vscode.Position): vscode.Range {
  if (previousNode?.type !== 'string') return new vscode.Range(position, position);
  const start = document.positionAt(previousNode.offset);
  const end = document.positionAt(previousNode.offset + previousNode.length);
  return position.isAfter(end) ? new vscode.Range(position, position) : new vscode.Range(start, end);
}

function itemOf({ name, detail }: Name, range: vscode.Range): vscode.CompletionItem {
  const text = JSON.stringify(name);
  const item = new vscode.CompletionItem(name, vscode.CompletionItemKind.Value);
  item.insertText = text;
  item.filterText = text;
  item.range = range;
  if (detail !== undefined) item.detail = detail;
  return item;
}
