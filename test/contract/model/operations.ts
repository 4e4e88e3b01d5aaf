import type { CreateMode } from '#catalog/arguments/options.ts';
import type { CatalogErrorKind } from '#shared/errors.ts';

export type Path = readonly string[];

/** Identifies the files of a deregistered table by the number of the deregistration in its sequence. */
export type DetachedId = number;

/** A catalog call as data, so that both the model and a catalog can run it and a failure can print it. */
export type Operation =
  | { call: 'createNamespace'; path: Path; mode: CreateMode; properties?: Record<string, string> }
  | { call: 'dropNamespace'; path: Path; mode: 'fail' | 'skip'; behavior: 'restrict' | 'cascade' }
  | { call: 'describeNamespace' | 'namespaceExists'; path: Path }
  | { call: 'listNamespaces'; path: Path; limit: number }
  | { call: 'listTables'; path: Path; limit: number; includeDeclared: boolean }
  /** `content` is the value in every row. Each operation of a sequence writes another value. */
  | { call: 'createTable'; path: Path; name: string; rows: number; content: number; mode: CreateMode }
  | { call: 'declareTable' | 'dropTable'; path: Path; name: string }
  | { call: 'deregisterTable'; path: Path; name: string; detached: DetachedId }
  /** If `detached` is missing, the location contains no table. */
  | { call: 'registerTable'; path: Path; name: string; detached?: DetachedId; mode: 'create' | 'overwrite' }
  | { call: 'renameTable'; path: Path; name: string; newPath: Path; newName: string }
  | { call: 'copy'; from: Path; to: Path; overwrite: boolean }
  | { call: 'describeTable' | 'tableExists' | 'openTable' | 'isOnlyDeclared'; path: Path; name: string };

/** The result of a call: a value, or the kind of its error. */
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
