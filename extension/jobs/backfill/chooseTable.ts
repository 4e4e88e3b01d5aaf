import type * as vscode from 'vscode';
import { CatalogError } from '#shared/errors.ts';
import { displayPath } from '#shared/names.ts';
import type { Catalogs } from '../../connections/catalogs.ts';
import type { Connections } from '../../connections/connections.ts';
import { isNode, type CatalogNode } from '../../explorer/node.ts';
import { connectionLabel } from '../../connections/connectionRules.ts';
import { pickOne, withProgress, type Choice } from '../../host/ask.ts';
import type { TablePlace } from '../../panels/tableSource.ts';

export type ChooseTableDeps = {
  readonly connections: Pick<Connections, 'list'>;
  readonly catalogs: Pick<Catalogs, 'get'>;
  readonly view: Pick<vscode.TreeView<CatalogNode>, 'selection' | 'visible'>;
};

type TableChoice = { readonly place: TablePlace; readonly column: string | undefined };

/**
 * Returns the table of the argument, else the selected table if the view is visible, else the table that the user
 * picks, one namespace level at a time. `undefined` if the user cancels.
 */
export async function chooseTable(parts: ChooseTableDeps, given: unknown): Promise<TableChoice | undefined> {
  const { view } = parts;
  const pointed = given ?? (view.visible ? view.selection[0] : undefined);
  if (isNode(pointed, 'table', 'column')) {
    const { connection, path, table } = pointed;
    return { place: { connection, path, table }, column: pointed.kind === 'column' ? pointed.column.name : undefined };
  }
  const connection = await chooseConnection(parts);
  const place = connection === undefined ? undefined : await walk(parts, connection, []);
  return place && { place, column: undefined };
}

async function chooseConnection({ connections }: ChooseTableDeps): Promise<string | undefined> {
  const all = connections.list();
  const [only] = all;
  if (!only)
    throw new CatalogError(
      'NamespaceNotFound',
      'There is no connection yet.',
      'Add one with "Add Directory…" or "Add REST Connection…".',
    );
  if (all.length === 1) return only.name;
  return pickOne(
    'Backfill Column: select a catalog',
    all.map((one) => ({ label: one.name, description: connectionLabel(one), icon: 'database', value: one.name })),
  );
}

type Step = { readonly kind: 'table' | 'namespace'; readonly name: string };

/** Maximum number of tables and of namespaces listed per level. The Lance Catalog view lists all of them. */
const maxNames = 1000;

async function walk(
  parts: Pick<ChooseTableDeps, 'catalogs'>,
  connection: string,
  path: string[],
): Promise<TablePlace | undefined> {
  const title = `Backfill Column: select a table in ${displayPath([connection, ...path])}`;
  const steps = await withProgress(`Listing ${displayPath([connection, ...path])}…`, async (signal) => {
    const catalog = await parts.catalogs.get(connection);
    const limit = maxNames;
    const [tables, namespaces] = await Promise.all([
      catalog.listTables(path, { limit, signal }),
      catalog.listNamespaces(path, { limit, signal }),
    ]);
    return [
      ...tables.tables.map((name) => stepOf('table', name)),
      ...namespaces.namespaces.map((name) => stepOf('namespace', name)),
    ];
  });
  if (steps.length === 0)
    throw new CatalogError(
      'TableNotFound',
      `There is no table in ${displayPath([connection, ...path])}.`,
      'Create one first.',
    );
  const chosen = await pickOne(title, steps);
  if (!chosen) return undefined;
  if (chosen.kind === 'table') return { connection, path, table: chosen.name };
  return walk(parts, connection, [...path, chosen.name]);
}

const stepOf = (kind: Step['kind'], name: string): Choice<Step> => ({
  label: name,
  icon: kind === 'table' ? 'table' : 'symbol-namespace',
  ...(kind === 'namespace' && { description: 'namespace' }),
  value: { kind, name },
});
