import { CatalogError } from '#shared/errors.ts';
import { operations, type Operation } from '#catalog/contract.ts';
import type { Capabilities } from '#catalog/catalog.ts';

/** The operations the engine can't do, each with the reason and an alternative. */
const reasons = {
  UpdateTableSchemaMetadata: [
    "The metadata of a schema can't be changed in a directory: the engine changes that of columns alone.",
    'Give it with the schema when the table is made.',
  ],
  AlterTableBackfillColumns: [
    'A directory runs no jobs, so no column can be computed by one.',
    'Add the column by an expression with addColumns, or use a server that runs jobs.',
  ],
  ListJobs: ['A directory runs no jobs.', 'Servers may: connectNamespace("rest", { uri }).'],
  DescribeJob: ['A directory runs no jobs.', 'Servers may: connectNamespace("rest", { uri }).'],
  CancelJob: ['A directory runs no jobs.', 'Servers may: connectNamespace("rest", { uri }).'],
  QueryJobEvents: ['A directory runs no jobs.', 'Servers may: connectNamespace("rest", { uri }).'],
} as const satisfies Partial<Record<Operation, readonly [what: string, hint: string]>>;

export const unsupported = (operation: keyof typeof reasons, identifier?: string): CatalogError => {
  const [what, hint] = reasons[operation];
  return new CatalogError('Unsupported', what, hint, { operation, identifier });
};

const hasReason = (operation: Operation): operation is keyof typeof reasons => operation in reasons;

/** Returns the error for any operation whose value in `dirCapabilities` is "no". */
export const refusalOf = (operation: Operation): CatalogError =>
  hasReason(operation)
    ? unsupported(operation)
    : new CatalogError('Unsupported', `A directory has no ${operation}.`, 'Do without it.', { operation });

/** Operations of the specification that `Catalog` and `Table` do not offer. */
const notOffered: readonly Operation[] = [
  'CreateTableVersion',
  'BatchDeleteTableVersions',
  'BatchCreateTableVersions',
  'BatchCommitTables',
  'CreateMaterializedView',
  'RefreshMaterializedView',
  'DescribeTransaction',
  'AlterTransaction',
];

export const dirCapabilities: Capabilities = Object.fromEntries(
  Object.keys(operations).map((name) => {
    const operation = name as Operation;
    return [operation, hasReason(operation) || notOffered.includes(operation) ? 'no' : 'yes'];
  }),
) as Capabilities;
