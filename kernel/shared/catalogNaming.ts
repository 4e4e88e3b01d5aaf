// What a string in a cell names: a table, a namespace or a column of a catalog. Who reads the code finds it, and who has
// the catalog says what there is.

/** A table as code opens it. */
export type NamedTable = { catalog: string; name: string; namespacePath: readonly string[] };

export type Naming = {
  /** What a name that is chosen takes the place of, in UTF-16 units. */
  start: number;
  end: number;
  /** The quote that the string began with, for which names are escaped; empty in SQL of its own. */
  quote: '"' | "'" | '`' | '';
  what:
    | { kind: 'table'; catalog: string; namespacePath: readonly string[] }
    | { kind: 'namespace'; catalog: string; parent: readonly string[] }
    /** A name alone, or in a filter or another expression of SQL. */
    | { kind: 'column'; table: NamedTable | { variable: string }; isSql: boolean }
    /** In a query: a table or a namespace, by itself or as a path in quotes, `"shop/eu`. */
    | { kind: 'sqlTable'; catalog: string; namespacePath: readonly string[]; isPath: boolean }
    /** In a query: a column of one of these. */
    | { kind: 'sqlColumn'; catalog: string; tables: readonly NamedTable[] };
};
