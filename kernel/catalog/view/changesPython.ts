import { stringLiteral } from '#shared/literals.ts';
import { changeNames } from './changeNames.ts';
import type { ChangesOfTables } from './changesCode.ts';
import { maxRows, openCatalogCode, type PythonCatalog, stringList } from './viewPython.ts';

/** Returns Python that compares two tables in memory, with the columns of `db.compare`. */
export function changesPython(changes: ChangesOfTables, catalog: PythonCatalog): string {
  const { before, after, key, kind, columns, limit } = changes;
  const names = changeNames(columns, key ?? undefined);
  const keys = key ?? ['_rowid'];
  const shown = key ? columns : ['_rowid', ...columns];
  const earlier = [...names.before].map(([name, was]) => `${stringLiteral(name)}: ${stringLiteral(was)}`);
  const { imports, open } = openCatalogCode(catalog);
  const isWanted = (one: NonNullable<typeof kind>): boolean => kind === null || kind === one;
  const read = ({ path, version }: typeof before): string => `read(${stringList(path)}, ${version})`;
  return [
    ...imports,
    ...(catalog.kind === 'dir' ? ['import pyarrow as pa'] : []),
    '',
    open,
    `columns = ${stringList(shown)}`,
    `key = ${stringList(keys)}`,
    '# The columns of the values before a change.',
    `earlier = {${earlier.join(', ')}}`,
    '',
    '',
    ...readCode(columns, { catalog, hasRowIds: key === null }),
    '',
    '',
    'def positions(table):',
    '    return {repr(row): at for at, row in enumerate(table.select(key).to_pylist())}',
    '',
    '',
    'def part(change, table, at, changed, was):',
    '    found = table.select(columns).take(pa.array(at, pa.int64()))',
    `    found = found.add_column(0, ${stringLiteral(names.kind)}, pa.repeat(change, len(at)))`,
    ...(names.rowId === undefined || names.rowId === '_rowid'
      ? []
      : [`    found = found.rename_columns({"_rowid": ${stringLiteral(names.rowId)}})`]),
    `    found = found.append_column(${stringLiteral(names.changed)}, pa.array(changed, pa.list_(pa.string())))`,
    '    for name, name_before in earlier.items():',
    '        rows = [row if names and name in names else None for row, names in zip(was, changed)]',
    '        found = found.append_column(name_before, before[name].take(pa.array(rows, pa.int64())))',
    '    return found',
    '',
    '',
    '# Both tables are in memory. Values are compared by their exact text, so that NaN equals NaN.',
    `before = ${read(before)}`,
    `after = ${read(after)}`,
    'old, new = positions(before), positions(after)',
    'parts = []',
    ...(isWanted('added')
      ? [
          'added = [at for row, at in new.items() if row not in old]',
          'parts.append(part("added", after, added, [None] * len(added), [None] * len(added)))',
        ]
      : []),
    ...(isWanted('removed')
      ? [
          'removed = [at for row, at in old.items() if row not in new]',
          'parts.append(part("removed", before, removed, [None] * len(removed), [None] * len(removed)))',
        ]
      : []),
    ...(isWanted('changed') ? changedCode : []),
    'rows = pa.concat_tables(parts, promote_options="default").sort_by([(name, "ascending") for name in key])',
    ...(limit === undefined ? [] : [`rows = rows.slice(0, ${limit})`]),
  ].join('\n');
}

/** Finds the names of the changed columns, one column after another. */
const changedCode: readonly string[] = [
  'pairs = [(old[row], new[row]) for row in new if row in old]',
  'changed = [[] for _ in pairs]',
  'for name in earlier:',
  '    was = before[name].take(pa.array([at for at, _ in pairs], pa.int64())).to_pylist()',
  '    now = after[name].take(pa.array([at for _, at in pairs], pa.int64())).to_pylist()',
  '    for names, one, other in zip(changed, was, now):',
  '        if repr(one) != repr(other):',
  '            names.append(name)',
  'found = [(was, now, names) for (was, now), names in zip(pairs, changed) if names]',
  'was, now, names = ([row[at] for row in found] for at in range(3))',
  'parts.append(part("changed", after, now, names, was))',
];

/** Returns the function that reads the compared columns of a table. */
function readCode(
  columns: readonly string[],
  { catalog, hasRowIds }: { catalog: PythonCatalog; hasRowIds: boolean },
): string[] {
  const read = stringList(columns);
  if (catalog.kind === 'dir')
    return [
      'def read(path, version):',
      '    table = lance.dataset(namespace_client=catalog, table_id=path, version=version)',
      `    return table.to_table(columns=${read}${hasRowIds ? ', with_row_id=True' : ''})`,
    ];
  return [
    'def read(path, version):',
    '    request = lance_namespace.QueryTableRequest(',
    '        id=path,',
    '        version=version,',
    `        columns=models.QueryTableRequestColumns(column_names=${read}),`,
    ...(hasRowIds ? ['        with_row_id=True,'] : []),
    `        k=${maxRows},`,
    '        vector=models.QueryTableRequestVector(),',
    '    )',
    '    return pa.ipc.open_file(io.BytesIO(catalog.query_table(request).data)).read_all()',
  ];
}
