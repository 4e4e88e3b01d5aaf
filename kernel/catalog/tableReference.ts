import type { CatalogConfig } from '#shared/catalogConfig.ts';
import type { TableReference } from '#shared/jobs/backfill.ts';
import type { KernelTable } from '#shared/protocol/outputTables.ts';
import type { Catalog } from './catalog.ts';
import type { Table } from './table/table.ts';

// A job opens its table again in a separate process, so it needs the configuration of the catalog. A configuration may
// hold secrets. So it is stored outside of the catalog object, because displaying or copying the object must not reveal
// secrets.
const configs = new WeakMap<Catalog, CatalogConfig>();
const catalogs = new WeakMap<Table, OpenedTable>();

type OpenedTable = {
  readonly catalog: Catalog;
  readonly isPinned: boolean;
  /** Whether only a tag or a branch leads to the rows, and not the number of a version. */
  readonly isOffMain: boolean;
};

/** Records how a catalog was connected. */
export function recordConnection<C extends Catalog>(catalog: C, config: CatalogConfig): C {
  configs.set(catalog, config);
  return catalog;
}

/** Records which catalog opened a table, and whether it is fixed to a version, a tag or a branch. */
export function recordOpenedTable<T extends Table>(
  catalog: Catalog,
  table: T,
  pin: { readonly version?: unknown; readonly tag?: unknown; readonly branch?: unknown } = {},
): T {
  const isPinned = pin.version !== undefined || pin.tag !== undefined || pin.branch !== undefined;
  catalogs.set(table, { catalog, isPinned, isOffMain: pin.tag !== undefined || pin.branch !== undefined });
  return table;
}

/**
 * Records for `table` the catalog of `from`. `table` is another object, or `from` itself after it moved to another
 * version or branch.
 */
export function recordMovedTable(from: Table, table: Table, pin: Parameters<typeof recordOpenedTable>[2]): void {
  const opened = catalogs.get(from);
  if (opened) recordOpenedTable(opened.catalog, table, pin);
}

/**
 * Returns a reference with which another process can open a table. The reference includes the secrets of the
 * connection, so it must stay in memory and pipes. `undefined` for a table opened at a version, a tag or a branch, or
 * from a catalog that was not connected with `connect` or `connectNamespace`.
 */
export function referenceOf(table: Table): TableReference | undefined {
  const opened = catalogs.get(table);
  const catalog = opened && !opened.isPinned ? configs.get(opened.catalog) : undefined;
  return catalog && { catalog, namespacePath: [...table.namespacePath], name: table.name };
}

/**
 * Returns where a table is, without secrets, and its version if it was opened at one. `undefined` for a table opened at a
 * tag or a branch, or from a catalog that was not connected with `connect` or `connectNamespace`.
 * @throws CatalogError if the version can't be read
 */
export async function placeOfTable(table: Table): Promise<KernelTable | undefined> {
  const opened = catalogs.get(table);
  const config = opened && !opened.isOffMain ? configs.get(opened.catalog) : undefined;
  if (!opened || !config) return undefined;
  const { namespacePath, name } = table;
  const version = opened.isPinned ? await table.version() : undefined;
  const common = { namespacePath: [...namespacePath], name, ...(version !== undefined && { version }) };
  if (config.implementation === 'rest') {
    const { uri, database } = config;
    return { implementation: 'rest', catalog: uri, ...(database !== undefined && { database }), ...common };
  }
  return { implementation: 'dir', catalog: opened.catalog.location, ...common };
}
