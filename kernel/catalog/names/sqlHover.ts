import { plainName, tokensOf } from '#shared/sqlTokens.ts';
import type { NamedTable } from '#shared/catalogConfig.ts';
import { columnsOf, findQuery, parsePosition, sourcesNamed, tableOf, visibleSources } from './sqlScopes.ts';

/** A name in a query and its range: a table, or a name that may be a column of one of `tables`. */
export type SqlName = { start: number; end: number } & (
  { kind: 'table'; table: NamedTable } | { kind: 'column'; name: string; tables: readonly NamedTable[] }
);

/** Returns the table or column that the name at an offset denotes; undefined for other words. */
export function sqlNameAt(sql: string, offset: number): SqlName | undefined {
  const tokens = tokensOf(sql);
  const nameAt = (index: number): string | undefined => tokens[index] && plainName(tokens[index]);
  const isDot = (index: number): boolean => tokens[index]?.text === '.';
  const at = tokens.findIndex(({ start, end }) => start <= offset && offset < end);
  if (nameAt(at) === undefined) return undefined;
  let first = at;
  while (isDot(first - 1) && nameAt(first - 2) !== undefined) first -= 2;
  let last = at;
  while (isDot(last + 1) && nameAt(last + 2) !== undefined) last += 2;
  // The name of a function.
  if (tokens[last + 1]?.text === '(') return undefined;
  const chainStart = tokens[first]!.start;
  const chainEnd = tokens[last]!.end;
  const names: string[] = [];
  for (let index = first; index <= last; index += 2) names.push(nameAt(index) ?? '');
  // The names are blanked, because the parser would take them for something that is finished before the offset.
  const rest = sql.slice(0, chainStart) + ' '.repeat(chainEnd - chainStart) + sql.slice(chainEnd);
  const { scope, place } = parsePosition(rest, chainStart);
  if (place === 'table') {
    // A query of WITH is not in the catalog.
    if (names.length === 1 && findQuery(scope, names[0]!)) return undefined;
    return { start: chainStart, end: chainEnd, kind: 'table', table: tableOf(names) };
  }
  if (place !== 'expression') return undefined;
  const holders = names.slice(0, (at - first) / 2);
  const { start, end } = tokens[at]!;
  if (at < last) {
    const holder = [...holders, nameAt(at)!].join('.').toLowerCase();
    const table = sourcesNamed(scope, holder).find(({ from }) => from && !('sources' in from))?.from;
    return table && !('sources' in table) ? { start: chainStart, end, kind: 'table', table } : undefined;
  }
  const sources = holders.length > 0 ? sourcesNamed(scope, holders.join('.').toLowerCase()) : visibleSources(scope);
  const { tables } = columnsOf(sources);
  return tables.length > 0 ? { start, end, kind: 'column', name: nameAt(at)!, tables } : undefined;
}
