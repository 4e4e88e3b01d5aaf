import type { DataType, Schema } from '#arrow';
import type { CallOptions } from '#catalog/arguments/options.ts';
import { type FullTextQuery, MatchQuery, MultiMatchQuery } from '#catalog/query/fullTextQuery.ts';
import { indexTypeName } from '#catalog/table/indexes.ts';
import type { Table } from '#catalog/table/table.ts';
import { isTextType } from '#shared/arrow/arrowTypes.ts';
import { CatalogError, isCatalogError } from '#shared/errors.ts';
import { quotedText } from '#shared/sqlTokens.ts';
import { isColumnName } from '#shared/fieldPath.ts';

/** How rows are searched: by the full-text index of columns, or by reading columns of text. */
export type RowSearch = {
  readonly text: string;
  readonly columns: readonly string[];
  readonly isIndex: boolean;
  /** Maximum number of rows that an index may find here, if it found more and the text was compared instead. */
  readonly indexLimit?: number | undefined;
};

export type SearchOptions = CallOptions & {
  /** Whether to read all columns of text, also if some have an index. */
  readonly isScan?: boolean | undefined;
};

/**
 * Returns how to search a table: by the full-text indexes if it has any, otherwise in all columns of text.
 * @throws CatalogError Unsupported (0) if the table has no text
 */
export async function planSearch(
  table: Table,
  text: string,
  { isScan = false, signal }: SearchOptions = {},
): Promise<RowSearch> {
  const schema = await table.schema({ signal });
  const indexed = isScan ? [] : await indexedColumns(table, schema, { signal });
  if (indexed.length > 0) return { text, columns: indexed, isIndex: true };
  const columns = schema.fields.flatMap(({ name, type }) =>
    isTextType(type as DataType) && isColumnName(name) ? [name] : [],
  );
  if (columns.length > 0) return { text, columns, isIndex: false };
  throw new CatalogError('Unsupported', 'The table has no columns of text.', 'Write a filter.');
}

/** Returns the columns with a full-text index. A server without lists of indexes has none. */
async function indexedColumns(table: Table, { fields }: Schema, options: CallOptions): Promise<string[]> {
  try {
    const indexes = await table.listIndices(options);
    const names = new Set(
      indexes.flatMap(({ type, columns }) => (type !== undefined && indexTypeName(type) === 'FTS' ? columns : [])),
    );
    return fields.flatMap(({ name }) => (names.has(name) ? [name] : []));
  } catch (error) {
    if (isCatalogError(error, 'Unsupported')) return [];
    throw error;
  }
}

/** Returns the query of an index: rows with all words of the text in one of the columns. */
export function indexQuery({ text, columns }: RowSearch): FullTextQuery {
  const [column] = columns;
  return columns.length === 1 && column !== undefined
    ? new MatchQuery(text, column, { operator: 'AND' })
    : new MultiMatchQuery(text, columns, { operator: 'AND' });
}

/** Returns the condition that one of the columns contains the text, in upper or lower case. */
export function textCondition({ text, columns }: Pick<RowSearch, 'text' | 'columns'>): string {
  // oxlint-disable-next-line no-control-regex -- the range is that of ASCII
  const isAscii = /^[\u0000-\u007f]*$/.test(text);
  // The lower case of other letters is that of the engine.
  const part = isAscii ? quotedText(text.toLowerCase()) : `lower(${quotedText(text)})`;
  const conditions = columns.map((column) => `contains(lower(\`${column}\`), ${part})`);
  return conditions.length === 1 ? conditions[0]! : `(${conditions.join(' OR ')})`;
}
