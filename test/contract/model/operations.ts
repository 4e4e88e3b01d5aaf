import type { CreateMode } from '#catalog/arguments/options.ts';
import type { CatalogErrorKind } from '#shared/errors.ts';

export type Path = readonly string[];

/** The files of a table that was deregistered, by the number of that deregistration in its sequence. */
export type DetachedId = number;

/** A call of a catalog as data, so that the model and a catalog can run the same one and a failure can print it. */
export type Operation =
  | { call: 'createNamespace'; path: Path; mode: CreateMode; properties?: Record<string, string> }
  | { call: 'dropNamespace'; path: Path; mode: 'fail' | 'skip'; behavior: 'restrict' | 'cascade' }
  | { call: 'describeNamespace' | 'namespaceExists'; path: Path }
  | { call: 'listNamespaces'; path: Path; limit: number }
  | { call: 'listTables'; path: Path; limit: number; includeDeclared: boolean }
  /** `content` is the value in every row: no two operations of a sequence write the same one. */
  | { call: 'createTable'; path: Path; name: string; rows: number; content: number; mode: CreateMode }
  | { call: 'declareTable' | 'dropTable'; path: Path; name: string }
  | { call: 'deregisterTable'; path: Path; name: string; detached: DetachedId }
  /** `detached` is missing: a location where no table is. */
  | { call: 'registerTable'; path: Path; name: string; detached?: DetachedId; mode: 'create' | 'overwrite' }
  | { call: 'renameTable'; path: Path; name: string; newPath: Path; newName: string }
  | { call: 'copy'; from: Path; to: Path; overwrite: boolean }
  | { call: 'describeTable' | 'tableExists' | 'openTable' | 'isOnlyDeclared'; path: Path; name: string };

/** How a call ended: with a value, or with the kind of its error. */
export type Outcome = { value?: unknown; error?: CatalogErrorKind };

const readingCalls: ReadonlySet<Operation['call']> = new Set([
  'describeNamespace',
  'namespaceExists',
  'listNamespaces',
  'listTables',
  'describeTable',
  'tableExists',
  'openTable',
  'isOnlyDeclared',
]);

export const isReading = ({ call }: Operation): boolean => readingCalls.has(call);
