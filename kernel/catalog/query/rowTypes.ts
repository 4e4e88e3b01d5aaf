import type { Selection } from './querySpec.ts';

// The types of rows that queries return. `Row` has the columns with the types of their values in `toArray()`, and
// `Bigints` those columns that `toArray({ int64: 'bigint' })` returns as another type. Both are `any` if the columns
// are not known, so that values are used without a cast.

/** A row with any columns. */
// oxlint-disable-next-line typescript/no-explicit-any -- the columns and types of most tables are known only at run time
export type AnyRow = any;

type IsAny<Type> = 0 extends 1 & Type ? true : false;

/** Columns that a query adds. They are part of the result, whatever columns are selected. */
type AddedColumn = '_rowid' | '_distance' | '_score' | '_relevance_score' | 'query_index';

/** A row with more columns. */
export type WithColumns<Row, Columns> =
  IsAny<Row> extends true
    ? AnyRow
    : {
        [Name in keyof Row | keyof Columns]: Name extends keyof Columns
          ? Columns[Name]
          : Name extends keyof Row
            ? Row[Name]
            : never;
      };

/**
 * Columns of a search by vector and text. `_distance` or `_score` is null in a row that only the other search found.
 */
type HybridColumns = { _distance: number | null; _score: number | null; _relevance_score: number };

/** A row that a search by vector found. `query_index` is there if the search has several vectors. */
export type WithDistance<Row> = WithColumns<
  Row,
  (Row extends { _score: unknown } ? HybridColumns : { _distance: number }) & { query_index: AnyRow }
>;

/** A row that a search for words found. */
export type WithScore<Row> = WithColumns<Row, Row extends { _distance: unknown } ? HybridColumns : { _score: number }>;

/** The new names of a selection with their SQL. */
type Aliases<Columns> = Columns extends readonly (readonly [string, string])[]
  ? { [Pair in Columns[number] as Pair[0]]: Pair[1] }
  : Columns extends ReadonlyMap<string, string>
    ? Record<string, string>
    : Columns;

/** The names in a selection that has no SQL. */
type Names = string | readonly string[];

/** A row with the selected columns. The type of a column that SQL computes is not known. */
export type SelectedRow<Row, Columns extends Selection> =
  IsAny<Row> extends true
    ? AnyRow
    : Columns extends Names
      ? NamedColumns<Row, Columns extends readonly string[] ? Columns[number] : Columns>
      : AliasedColumns<Row, Aliases<Columns>>;

type NamedColumns<Row, Name> = string extends Name
  ? AnyRow
  : {
      [Key in (Name & string) | Extract<keyof Row, AddedColumn>]: Key extends keyof Row ? Row[Key] : AnyRow;
    };

type AliasedColumns<Row, Columns> = string extends keyof Columns
  ? AnyRow
  : {
      [Key in keyof Columns | Extract<keyof Row, AddedColumn>]: Source<Columns, Key> extends keyof Row
        ? Row[Source<Columns, Key>]
        : AnyRow;
    };

/** The column that a selected column is read from, or the SQL that computes it. */
type Source<Columns, Key> = Key extends keyof Columns ? Columns[Key] : Key;

/** The selected columns that are bigints with `{ int64: 'bigint' }`. */
export type SelectedBigints<Bigints, Columns extends Selection> =
  IsAny<Bigints> extends true ? AnyRow : Columns extends Names ? Bigints : AliasedBigints<Bigints, Aliases<Columns>>;

type AliasedBigints<Bigints, Columns> = {
  [
    Key in keyof Columns | Extract<keyof Bigints, AddedColumn> as Source<Columns, Key> extends keyof Bigints
      ? Key
      : never
  ]: Bigints[Source<Columns, Key> & keyof Bigints];
};

/** A row as `toArray({ int64 })` returns it. */
export type RowWith<Row, Bigints, Int64> = Int64 extends 'bigint'
  ? IsAny<Row> extends true
    ? AnyRow
    : IsAny<Bigints> extends true
      ? AnyRow
      : { [Name in keyof Row]: Name extends keyof Bigints ? Bigints[Name] : Row[Name] }
  : Row;
