import { CatalogError } from '#shared/errors.ts';
import { checkAddress, isObjectStore } from './root.ts';

// Some servers only describe tables. A client reads the rows of such a table from the location of its files.

/** A directory or object store that a `dir` catalog can open, and a table in its root. */
export type TableInDirectory = { readonly root: string; readonly table: string };

/**
 * Returns the directory that contains the table at a location; `undefined` if a `dir` catalog can't open it there. Such
 * a catalog finds only folders that are named `<table>.lance`.
 */
export function directoryOf(location: string): TableInDirectory | undefined {
  const [, root, table] = /^(.*[^/\\])[/\\]+([^/\\]+)\.lance[/\\]*$/i.exec(location) ?? [];
  if (root === undefined || table === undefined) return undefined;
  try {
    checkAddress(root);
  } catch {
    return undefined;
  }
  return { root, table };
}

const locations = new WeakMap<CatalogError, string>();

/** Returns the location of the table that an error of `rowsAreElsewhere` is about. */
export const locationOfRows = (error: CatalogError): string | undefined => locations.get(error);

/** The error of a call about the rows of a table whose server has no rows, only the location of the table. */
export function rowsAreElsewhere(server: string, table: string, location: string, cause: CatalogError): CatalogError {
  const error = new CatalogError(
    'Unsupported',
    `${server} neither reads nor writes rows: it only describes table "${table}", whose files are at "${location}".`,
    nextStep(location),
    { cause, status: cause.status },
  );
  locations.set(error, location);
  return error;
}

function nextStep(location: string): string {
  const isStore = isObjectStore(location);
  const found = directoryOf(location);
  if (!found) {
    const options = isStore ? ', storage_options=…' : '';
    return `Open it there with a client that takes locations, for instance lance.dataset("${location}"${options}) in Python.`;
  }
  const options = isStore ? ', storageOptions' : '';
  return `Open it there: connectNamespace("dir", { root: "${found.root}"${options} }), then openTable("${found.table}").`;
}
