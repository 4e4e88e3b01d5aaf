import { type CallOptions, checkOptions } from '#catalog/arguments/options.ts';
import type { TableSource } from '#catalog/table/tableData.ts';
import { CatalogError } from '#shared/errors.ts';
import { checkKnownPath, type NamespacePath } from '#shared/names.ts';
import { isRecord } from '#shared/records.ts';
import { unsupportedBase, unsupportedCatalogCalls } from './unsupported.ts';

/** Methods of a catalog that have the same names as in LanceDB's own packages. */
export interface LanceDbCatalogCalls {
  /**
   * Drops all tables directly in a namespace (default: the root); this can't be undone.
   * @throws CatalogError NamespaceNotFound (1)
   */
  dropAllTables(namespacePath?: NamespacePath, options?: CallOptions): Promise<void>;
  /** Returns true until `close` is called. Then the catalog can't be used any more. */
  isOpen(): boolean;
  /** Returns a line of text with the implementation and the location of the catalog. */
  display(): string;
}

export type TableNamesOptions = CallOptions & {
  /** Returns only names after this one. */
  startAfter?: string | undefined;
  /** Maximum number of names. Default: all. */
  limit?: number | undefined;
};

/** Implements `LanceDbCatalogCalls` with other methods of the catalog. */
export abstract class LanceDbCatalog extends unsupportedBase(unsupportedCatalogCalls) implements LanceDbCatalogCalls {
  abstract readonly implementation: 'dir' | 'rest';
  abstract readonly location: string;
  #isOpen = true;

  abstract tableNames(
    namespacePath?: NamespacePath | TableNamesOptions,
    options?: TableNamesOptions,
  ): Promise<string[]>;
  abstract dropTable(name: string, options: CallOptions & { namespacePath: NamespacePath }): Promise<void>;
  /** Releases the connection. */
  protected abstract release(): Promise<void>;

  async dropAllTables(namespacePath: NamespacePath = [], options: CallOptions = {}): Promise<void> {
    checkOptions('dropAllTables', options, ['signal']);
    for (const name of await this.tableNames(namespacePath, options)) {
      await this.dropTable(name, { ...options, namespacePath });
    }
  }

  isOpen(): boolean {
    return this.#isOpen;
  }

  display(): string {
    return `Catalog ${this.implementation} ${this.location}`;
  }

  close(): Promise<void> {
    this.#isOpen = false;
    return this.release();
  }
}

/**
 * Splits the arguments of a call into the namespace and the options. The namespace may be left out: `listTables({
 * limit: 10 })`.
 */
export function namespaceAndOptions<O extends object>(
  given: NamespacePath | O | undefined,
  options: O | undefined,
): { path: NamespacePath; options: O | Record<string, never> } {
  const isOptions = (value: NamespacePath | O | undefined): value is O => isRecord(value);
  if (!isOptions(given)) return { path: given ?? [], options: options ?? {} };
  if (options === undefined) return { path: [], options: given };
  throw new CatalogError(
    'InvalidInput',
    'Expected one object with options, got two.',
    'Write the namespace path as an array before the options.',
  );
}

/**
 * Checks the options of `tableNames`.
 * @throws CatalogError InvalidInput (13)
 */
export function checkTableNames(path: NamespacePath, options: TableNamesOptions): void {
  checkOptions('tableNames', options, ['limit', 'signal', 'startAfter']);
  checkKnownPath(path);
  const { limit, startAfter } = options;
  if (limit !== undefined && !(Number.isSafeInteger(limit) && limit >= 0)) {
    const what = `tableNames: ${String(limit)} is not a valid limit.`;
    throw new CatalogError('InvalidInput', what, 'Pass a whole number from 0.');
  }
  if (startAfter !== undefined && typeof startAfter !== 'string') {
    throw new CatalogError('InvalidInput', 'tableNames: startAfter is not a string.', 'Pass the name of a table.');
  }
}

/** Returns the requested names. If only some names are requested, sorts them by their characters. */
export function selectTableNames(names: string[], { limit, startAfter }: TableNamesOptions): string[] {
  if (limit === undefined && startAfter === undefined) return names;
  const sorted = names.toSorted((a, b) => (a < b ? -1 : 1));
  return sorted.filter((name) => startAfter === undefined || name > startAfter).slice(0, limit);
}

const typed = (name: unknown, rows: unknown) => ({
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- checked when it is used
  name: name as string,
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- checked when it is used
  data: rows as TableSource | undefined,
});

/**
 * Converts the arguments of `createTable({ name, data, … }, namespacePath)` to those of `createTable(name, data, …)`.
 * Arguments in the second form are returned as they are.
 */
export function createTableArguments(
  given: unknown,
  data: unknown,
  tail: readonly unknown[],
): { name: string; data: TableSource | undefined; tail: readonly unknown[] } {
  if (!isRecord(given)) return { ...typed(given, data), tail };
  const { name, data: rows, ...options } = given;
  const path = data === undefined ? [] : [data];
  return { ...typed(name, rows), tail: [...path, options, ...tail] };
}
