import type { CatalogConfig } from '#shared/catalogConfig.ts';
import type { TableReference } from '#shared/jobs/backfill.ts';
import type { Catalog } from './catalog.ts';
import type { Table } from './table.ts';

// A job opens its table again in a process of its own, so it must be known how the catalog was connected. That may hold
// secrets: it is beside the objects and not on them, where showing or copying one would give it away.
const configs = new WeakMap<Catalog, CatalogConfig>();
const catalogs = new WeakMap<Table, { readonly catalog: Catalog; readonly isPinned: boolean }>();

/** Remembers how a catalog was connected. */
export function connectedBy<C extends Catalog>(catalog: C, config: CatalogConfig): C {
  configs.set(catalog, config);
  return catalog;
}

/** Remembers which catalog opened a table, and whether it stays at a version, a tag or a branch. */
export function openedBy<T extends Table>(
  catalog: Catalog,
  table: T,
  pin: { readonly version?: unknown; readonly tag?: unknown; readonly branch?: unknown } = {},
): T {
  const isPinned = pin.version !== undefined || pin.tag !== undefined || pin.branch !== undefined;
  catalogs.set(table, { catalog, isPinned });
  return table;
}

/**
 * Where a table is, for another process to open it: with the secrets of its connection, so in memory and through pipes
 * alone. `undefined` for a table that was opened at a version, a tag or a branch, or by something other than
 * `connect`, `connectNamespace` and what these gave.
 */
export function referenceOf(table: Table): TableReference | undefined {
  const opened = catalogs.get(table);
  const catalog = opened && !opened.isPinned ? configs.get(opened.catalog) : undefined;
  return catalog && { catalog, namespacePath: [...table.namespacePath], name: table.name };
}
