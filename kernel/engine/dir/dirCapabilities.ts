import { CatalogError } from '#shared/errors.ts';
import { operations, type Operation } from '#catalog/contract.ts';
import type { Capabilities } from '#catalog/catalog.ts';

const noJobs = [
  'This catalog is a directory, which runs no jobs.',
  'Use a server that runs jobs, such as: lance-catalog serve --jobs.',
] as const;

/** The operations the engine can't do, each with the reason and an alternative. */
const reasons = {
  UpdateTableSchemaMetadata: [
    "Can't change the metadata of a schema in a directory: the engine can change only the metadata of columns.",
    'Set it in the schema when you create the table.',
  ],
  AlterTableBackfillColumns: [
    "Can't compute a column by a job of the catalog, because a directory does not run jobs.",
    'Add the column as a SQL expression with addColumns, or connect to a server that runs jobs.',
  ],
  ListJobs: noJobs,
  DescribeJob: noJobs,
  CancelJob: noJobs,
  QueryJobEvents: noJobs,
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
    : new CatalogError('Unsupported', `A directory does not support ${operation}.`, 'Use a server that supports it.', {
        operation,
      });

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
