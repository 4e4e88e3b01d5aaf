// The path of a field that is nested in structs, as the engine reads it in the columns of a query, in an order and in a
// condition: names with dots between them, `address.zip`. Any name but a plain word is in backticks, which it doubles.

const quoted = (name: string): string => `\`${name.replaceAll('`', '``')}\``;

/** Whether a name is a plain word, which needs no backticks. */
export const isPlainName = (name: string): boolean => /^[A-Za-z_]\w*$/.test(name);

/** Whether the engine reads a name as that of a column. A name with a dot would be the path of a nested field. */
export const isColumnName = (name: string): boolean => /^[^.`]+$/.test(name);

/** Returns why the engine can't find a column by its name, as an end of a label; `undefined` if it can. */
export function columnNameProblem(name: string): string | undefined {
  if (isColumnName(name)) return undefined;
  return name === '' ? 'it has no name' : 'its name has a dot or a backtick';
}

/** Formats the path of a nested field: `address.zip`, or ``address.`post code` ``. */
export const fieldPathText = (names: readonly string[]): string =>
  names.map((name) => (isPlainName(name) ? name : quoted(name))).join('.');

/** Formats a path for a condition, where an unquoted word could be a keyword: `` `address`.`zip` ``. */
export const quotedFieldPath = (names: readonly string[]): string => names.map(quoted).join('.');

/** Returns the names of a path, or `undefined` if the text is not a path. The name of a column without dots is a path. */
export function parseFieldPath(text: string): string[] | undefined {
  if (!/^(?:`(?:[^`]|``)+`|[^.`]+)(?:\.(?:`(?:[^`]|``)+`|[^.`]+))*$/.test(text)) return undefined;
  return Array.from(text.matchAll(/`((?:[^`]|``)+)`|[^.`]+/g), ([whole, inner]) =>
    inner === undefined ? whole : inner.replaceAll('``', '`'),
  );
}
