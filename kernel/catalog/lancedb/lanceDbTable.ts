import { type CallOptions, checkChoice, checkOptions, checkVersion } from '#catalog/arguments/options.ts';
import { checkText, describeType } from '#catalog/arguments/tableArguments.ts';
import { type FullTextQuery, isFullTextQuery } from '#catalog/query/fullTextQuery.ts';
import type { Query } from '#catalog/query/query.ts';
import type { AnyRow, WithDistance, WithScore } from '#catalog/query/rowTypes.ts';
import { CatalogError, withErrorContext } from '#shared/errors.ts';
import { displayPath, type NamespacePath } from '#shared/names.ts';
import { unsupportedBase, unsupportedTableCalls } from './unsupported.ts';

/** What `search` searches for. `auto`: a vector or words, depending on the type of the query. */
export type SearchType = 'auto' | 'vector' | 'fts';

/** The version, tag or branch that a table reads. Default: the newest version of the main branch. */
export type TablePin = { version?: number | undefined; tag?: string | undefined; branch?: string | undefined };

/** Methods of a table that have the same names as in LanceDB's own packages. */
export interface LanceDbTableCalls<Row = AnyRow, Bigints = AnyRow> {
  /**
   * Finds the rows nearest to a vector, like `vectorSearch`, or the rows that contain words, like `fullTextSearch`:
   * `table.search('red mug', 'fts', 'text')`.
   * @throws CatalogError InvalidInput (13), Unsupported (0) for words with the type `vector`
   */
  search(
    query: string | FullTextQuery,
    queryType?: SearchType,
    ftsColumns?: string | readonly string[],
  ): Query<WithScore<Row>, Bigints>;
  search(query: ArrayLike<number>, queryType?: SearchType): Query<WithDistance<Row>, Bigints>;
  /**
   * Moves this object to a version, or to the version of a tag, and makes it read-only. Other objects of the same table
   * keep their version: each call of `openTable` returns a separate object.
   * @throws CatalogError VersionNotFound (11), TagNotFound (8)
   */
  checkout(version: number | string, options?: CallOptions): Promise<void>;
  /** Moves this object back to the newest version of its branch, which can be changed. */
  checkoutLatest(options?: CallOptions): Promise<void>;
  /** Returns the branch that is read; `null` for the main branch. */
  currentBranch(): string | null;
  /** Returns true until `close` is called. Then the table can't be used any more. */
  isOpen(): boolean;
  /** Releases the table. Later calls on this object are rejected. */
  close(): void;
  /** Returns a line of text with the name of the table. */
  display(): string;
}

/** Implements `LanceDbTableCalls` with other methods of the table. */
export abstract class LanceDbTable extends unsupportedBase(unsupportedTableCalls) implements LanceDbTableCalls {
  abstract readonly name: string;
  abstract readonly namespacePath: NamespacePath;
  #isOpen = true;

  abstract query(): Query;
  abstract currentBranch(): string | null;
  /** Makes this object read another version or branch. */
  protected abstract moveTo(pin: TablePin, options: CallOptions): Promise<void>;
  protected abstract release(): void;

  search(
    query: string | FullTextQuery | ArrayLike<number>,
    queryType?: SearchType,
    ftsColumns?: string | readonly string[],
  ): Query {
    const type = checkChoice('search', 'queryType', queryType, ['auto', 'vector', 'fts']) ?? 'auto';
    if (typeof query === 'string' || isFullTextQuery(query)) {
      if (type === 'vector') {
        throw new CatalogError(
          'Unsupported',
          "search: this catalog has no embedding functions, so it can't compute the vector of words.",
          'Compute the vector and write search(vector), or search for the words with "fts".',
        );
      }
      return this.query().fullTextSearch(query, ftsColumns === undefined ? {} : { columns: ftsColumns });
    }
    if (type === 'fts' || ftsColumns !== undefined) {
      const what = 'search: text columns and "fts" are for words, but it was given a vector.';
      throw new CatalogError('InvalidInput', what, 'Write search(vector), or pass a string.');
    }
    return this.query().nearestTo(query);
  }

  checkout(version: number | string, options: CallOptions = {}): Promise<void> {
    return this.#during(async () => {
      checkOptions('checkout', options, ['signal']);
      if (typeof version === 'string') return this.moveTo({ tag: checkText('checkout', 'tag', version) }, options);
      if (typeof version !== 'number') {
        const what = `Expected a version or a tag for checkout, got ${describeType(version)}.`;
        throw new CatalogError('InvalidInput', what, 'Pass a number, or the name of a tag as a string.');
      }
      return this.moveTo({ version: checkVersion('checkout', version), branch: this.#branch }, options);
    });
  }

  checkoutLatest(options: CallOptions = {}): Promise<void> {
    return this.#during(async () => {
      checkOptions('checkoutLatest', options, ['signal']);
      await this.moveTo({ branch: this.#branch }, options);
    });
  }

  isOpen(): boolean {
    return this.#isOpen;
  }

  close(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    this.release();
  }

  display(): string {
    return `Table ${displayPath(this.namespacePath, this.name)}`;
  }

  get #branch(): string | undefined {
    return this.currentBranch() ?? undefined;
  }

  #during<T>(call: () => Promise<T>): Promise<T> {
    const identifier = displayPath(this.namespacePath, this.name);
    return withErrorContext({ operation: 'DescribeTable', identifier }, () => {
      if (!this.#isOpen) throw closedTable(identifier);
      return call();
    });
  }
}

/** The error of a call on a table after `close`. */
export const closedTable = (name: string): CatalogError =>
  new CatalogError('InvalidInput', `Table "${name}" was closed.`, 'Open it again.');
