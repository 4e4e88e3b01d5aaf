/** A column in the SQL of tables. */
export const sqlName = (column: string): string => `\`${column.replaceAll('`', '``')}\``;
