/** The names of the columns of a comparison beside those of the table. */
export type ChangeNames = {
  /** The name of the first column, whose values are the kinds of changes. */
  readonly kind: string;
  /** The name of the column of row ids; undefined if a key identifies the rows. */
  readonly rowId: string | undefined;
  /** The name of the column of lists of the changed columns. */
  readonly changed: string;
  /** The columns of earlier values by the compared columns. They are null unless this value of the row has changed. */
  readonly before: ReadonlyMap<string, string>;
};

/**
 * Returns the names of the columns of a comparison. A name that a column of the table has gets an underscore.
 * @param columns the compared columns
 * @param key those that identify a row; undefined if row ids do
 */
export function changeNames(columns: readonly string[], key: readonly string[] | undefined): ChangeNames {
  const names = new Set(columns);
  const unused = (name: string): string => {
    const free = names.has(name) ? unused(`${name}_`) : name;
    names.add(free);
    return free;
  };
  const [kind, changed] = [unused('change'), unused('changed')];
  const rowId = key ? undefined : unused('_rowid');
  const earlier = columns.filter((name) => !key?.includes(name));
  return { kind, rowId, changed, before: new Map(earlier.map((name) => [name, unused(`${name}_before`)])) };
}
