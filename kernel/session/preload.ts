// What every notebook has before its first cell, and what `import … from 'lance-catalog'` gives in one. The declarations
// made of this file are what cells are checked against, so it holds nothing else.
import type { Display } from './displayFunction.ts';

export * as arrow from '#arrow';
export { connect, connectNamespace } from '#client/connect.ts';
export type { ConnectOptions, DirConfig, RestConfig } from '#client/connect.ts';
export type { CallOptions } from '#client/callOptions.ts';
export type { Catalog, CreateEmptyTableOptions, CreateMode, CreateNamespaceOptions, CreateTableOptions, DropNamespaceOptions, DropTableOptions, NamespacePage, OpenTableOptions, PageOptions, RenameTableOptions, TableDescription, TablePage } from '#client/catalog.ts';
export type { DistanceType } from '#client/querySpec.ts';
export type { Table, VersionInfo } from '#client/table.ts';
export type { TableData } from '#client/tableSource.ts';
export { Query } from '#client/query.ts';
export { CatalogError, isCatalogError } from '#shared/errors.ts';
export type { CatalogErrorCode, CatalogErrorKind } from '#shared/errors.ts';
export type { NamespacePath } from '#shared/names.ts';
export type { Display };

/**
 * Shows a value in the output of the cell at once: an Arrow table, a query or a table of a catalog as a table.
 * `display(value, { id: 'progress' })` shows it where `id` was shown before.
 */
export declare const display: Display;
