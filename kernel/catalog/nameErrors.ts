import { CatalogError } from '#shared/errors.ts';
import { displayPath } from '#shared/names.ts';

// A child of a namespace is a table or a namespace, never both. The kind of the error shows whether a table or a
// namespace already has the name.

/** The error of a call that would give a table the name of a namespace. */
export const namespaceHasName = (identifier: readonly string[], cause?: unknown): CatalogError =>
  new CatalogError(
    'NamespaceAlreadyExists',
    `Can't name a table "${displayPath(identifier)}": a namespace has this name.`,
    'Choose another name.',
    { cause },
  );

/** The error of a call that would give a namespace the name of a table. */
export const tableHasName = (path: readonly string[], cause?: unknown): CatalogError =>
  new CatalogError(
    'TableAlreadyExists',
    `Can't create namespace "${displayPath(path)}": a table has this name.`,
    'Choose another name, or rename or drop the table first.',
    { cause },
  );
