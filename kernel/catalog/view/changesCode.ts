import { writeSqlTable } from '#catalog/names/sqlNames.ts';
import { CatalogError } from '#shared/errors.ts';
import { stringLiteral } from '#shared/literals.ts';
import { displayPath } from '#shared/names.ts';
import type { ChangeKind } from '#shared/protocol/changes.ts';
import { quotedName, quotedText } from '#shared/sqlTokens.ts';
import { changeNames } from './changeNames.ts';

type ComparedSide = { readonly path: readonly string[]; readonly version: number };

/** The differences between two tables, or two versions of one, as a panel shows them. */
export type ChangesOfTables = {
  /** The table of the panel, which is one of the two. */
  readonly namespacePath: readonly string[];
  readonly name: string;
  readonly before: ComparedSide;
  readonly after: ComparedSide;
  /** The columns that identify a row; null for row ids. */
  readonly key: readonly string[] | null;
  /** The kind of the rows; null for all. */
  readonly kind: ChangeKind | null;
  /** The compared columns; those of the key are first. */
  readonly columns: readonly string[];
  /** Maximum number of rows. */
  readonly limit?: number | undefined;
};

/** Rows of `db.compare`, if the user has not chosen another number. */
const defaultLimit = 1_000;

const stringList = (items: readonly string[]): string => `[${items.map(stringLiteral).join(', ')}]`;

/** Returns TypeScript for a cell, which calls `db.compare`. */
export function changesTypescript({ before, after, key, kind, limit = defaultLimit }: ChangesOfTables): string {
  const options = [
    ...(key ? [`key: ${stringList(key)}`] : []),
    ...(kind === null ? [] : [`kind: ${stringLiteral(kind)}`]),
    `limit: ${limit}`,
  ];
  const side = ({ path, version }: ComparedSide): string => `{ path: ${stringList(path)}, version: ${version} }`;
  return [
    'const { rows } = await db.compare(',
    `  ${side(before)},`,
    `  ${side(after)},`,
    `  { ${options.join(', ')} },`,
    ');',
    'rows',
  ].join('\n');
}

/** The condition of each kind, and of all. */
const sqlConditions = (old: string, young: string, differs: string): Record<ChangeKind | 'all', string> => ({
  added: `${old} is null`,
  removed: `${young} is null`,
  changed: `${old} and ${young} and (${differs})`,
  all: `${old} is null or ${young} is null or ${differs}`,
});

const differs = (column: string): string => `old.${quotedName(column)} is distinct from young.${quotedName(column)}`;

/**
 * Returns SQL with the columns of `db.compare`.
 * @throws CatalogError Unsupported (0) for a comparison by row ids, and for names that SQL in a cell can't have
 */
export function changesSql(changes: ChangesOfTables): string {
  const { namespacePath, name, before, after, key, kind, columns, limit } = changes;
  const refuse = (why: string): never => {
    const what = `Can't write the differences of "${displayPath(namespacePath, name)}" as SQL: ${why}.`;
    throw new CatalogError('Unsupported', what, 'Copy them as TypeScript or Python.');
  };
  if (!key) return refuse('the rows are compared by their row ids, which SQL does not have');
  const names = changeNames(columns, key);
  // A column that tells whether a row is in a table must not have the name of another one.
  let side = 'side';
  while (columns.some((column) => column.toLowerCase() === side)) side = `${side}_`;
  const [old, young] = [`old.${side}`, `young.${side}`];
  const compared = columns.filter((column) => names.before.has(column));
  const isChanged = compared.length > 0 ? compared.map(differs).join(' or ') : 'false';
  const source = ({ path, version }: ComparedSide): string =>
    `(select *, true as ${side} from version(${quotedText(writeSqlTable([...path]))}, ${version}))`;
  // DuckDB has no case expression for vectors, but takes them from a list; beyond its end there is null.
  const current = (column: string): string =>
    `[young.${quotedName(column)}, old.${quotedName(column)}][if(${young}, 1, 2)] as ${quotedName(column)}`;
  const changedName = (column: string): string => `if(${differs(column)}, ${quotedText(column)}, null)`;
  const earlier = (column: string): string =>
    `[old.${quotedName(column)}][if(${old} and ${young} and ${differs(column)}, 1, 2)] as ${quotedName(names.before.get(column)!)}`;
  const list =
    compared.length === 0
      ? '[]::varchar[]'
      : `[name for name in [${compared.map(changedName).join(', ')}] if name is not null]`;
  const selected = [
    `case when ${old} is null then 'added' when ${young} is null then 'removed' else 'changed' end as ${quotedName(names.kind)}`,
    ...columns.map(current),
    `if(${old} and ${young}, ${list}, null) as ${quotedName(names.changed)}`,
    ...compared.map(earlier),
  ];
  const sql = [
    'select',
    selected.map((item) => `  ${item}`).join(',\n'),
    `from ${source(before)} as old`,
    `full join ${source(after)} as young`,
    `  on ${key.map((column) => `old.${quotedName(column)} is not distinct from young.${quotedName(column)}`).join(' and ')}`,
    `where ${sqlConditions(old, young, isChanged)[kind ?? 'all']}`,
    `order by ${key.map((column) => `${quotedName(column)} nulls last`).join(', ')}`,
    ...(limit === undefined ? [] : [`limit ${limit}`]),
  ].join('\n');
  // In a cell, `${…}` is a value of the notebook. Names have no other form.
  return sql.includes('${') ? refuse('a name contains ${, and in a cell ${…} is a value') : sql;
}
