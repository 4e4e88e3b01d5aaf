import type { Ordering } from '#catalog/query/querySpec.ts';
import { parseFieldPath } from '#shared/fieldPath.ts';
import { stringLiteral } from '#shared/literals.ts';
import { distanceColumn } from '#shared/vectorTypes.ts';
import { type NearestSpec, refineFactorOf, vectorCode, vectorsOf } from './nearestSpec.ts';
import type { ViewOfTable } from './tableRows.ts';

/** How Python opens a catalog. Keys are read from environment variables, so that code has no secrets. */
export type PythonCatalog =
  | { readonly kind: 'dir'; readonly root: string }
  | {
      readonly kind: 'rest';
      readonly uri: string;
      /** Headers that are not secret, such as the name of the database. */
      readonly headers?: Readonly<Record<string, string>> | undefined;
      /** Headers whose values are read from environment variables: header → variable. */
      readonly secretHeaders?: Readonly<Record<string, string>> | undefined;
    };

/** The largest count of rows that the specification allows in a request. */
export const maxRows = 2 ** 31 - 1;

/**
 * Returns Python for pylance. In a directory it opens the table. On a server it sends a query, because a client with a
 * key alone can't read the files of the table.
 */
export const pythonCode = (view: ViewOfTable, catalog: PythonCatalog): string =>
  catalog.kind === 'dir' ? datasetCode(view, catalog) : queryCode(view, catalog);

/** Returns the code that opens a catalog as `catalog`, and the imports that it and the reading of tables need. */
export function openCatalogCode(catalog: PythonCatalog): { imports: readonly string[]; open: string } {
  if (catalog.kind === 'dir')
    return {
      imports: ['import lance', 'import lance_namespace'],
      open: `catalog = lance_namespace.connect("dir", {"root": ${stringLiteral(catalog.root)}})`,
    };
  const { uri, headers = {}, secretHeaders = {} } = catalog;
  const properties = [
    `"uri": ${stringLiteral(uri)}`,
    ...Object.entries(headers).map(
      ([header, value]) => `${stringLiteral(`headers.${header}`)}: ${stringLiteral(value)}`,
    ),
    ...Object.entries(secretHeaders).map(
      ([header, variable]) => `${stringLiteral(`headers.${header}`)}: os.environ[${stringLiteral(variable)}]`,
    ),
  ];
  return {
    imports: [
      'import io',
      ...(Object.keys(secretHeaders).length > 0 ? ['import os'] : []),
      '',
      'import lance_namespace',
      'import lance_namespace_urllib3_client.models as models',
      'import pyarrow as pa',
    ],
    open: `catalog = ${callCode('lance_namespace.connect', ['"rest"', `{${properties.join(', ')}}`])}`,
  };
}

// A string of JSON is also one of Python.
export const stringList = (items: readonly string[]): string => `[${items.map(stringLiteral).join(', ')}]`;

const versionArgument = (version: number | undefined): string => (version === undefined ? '' : `, version=${version}`);

function datasetCode(view: ViewOfTable, catalog: PythonCatalog): string {
  const { imports, open } = openCatalogCode(catalog);
  const { namespacePath, name, version, where, nearest, columns, limit } = view;
  // pylance has no order for a search. A stable sort of the rows that it found is the same.
  const [orderBy, sorts] = nearest ? [[], view.orderBy ?? []] : [view.orderBy ?? [], []];
  const read = readColumns(view);
  const given = [
    ...(nearest ? [`nearest=${nearestDict(nearest)}`, 'prefilter=True'] : []),
    ...(read ? [`columns=${stringList(read)}`] : []),
    ...(where === undefined ? [] : [`filter=${stringLiteral(where)}`]),
    ...(orderBy.length > 0 ? [`order_by=[${orderBy.map(orderingCode).join(', ')}]`] : []),
    ...(limit === undefined ? [] : [`limit=${limit}`]),
  ];
  return [
    ...(nearest && usesNumpy(nearest) ? ['import numpy as np'] : []),
    ...imports,
    ...(orderBy.length > 0 ? ['from lance.dataset import ColumnOrdering'] : []),
    ...computeImport(sorts, read),
    '',
    open,
    `table = lance.dataset(namespace_client=catalog, table_id=${stringList([...namespacePath, name])}${versionArgument(version)})`,
    `rows = ${callCode('table.to_table', given)}`,
    ...sorts.toReversed().map((ordering) => sortCode(ordering, read)),
    ...droppedColumns(columns, read),
  ].join('\n');
}

/** Returns the columns to read. pylance, and the sort of a client, need the columns to sort by among them. */
const readColumns = ({ columns, orderBy = [], nearest }: ViewOfTable): readonly string[] | undefined =>
  columns && [...new Set([...columns, ...orderBy.map(({ column }) => column), ...(nearest ? [distanceColumn] : [])])];

const droppedColumns = (columns: readonly string[] | undefined, read: readonly string[] | undefined): string[] =>
  columns && read && read.length > columns.length ? [`rows = rows.select(${stringList(columns)})`] : [];

function orderingCode({ column, descending = false, nullsFirst = false }: Ordering): string {
  const flags = `${descending ? ', ascending=False' : ''}${nullsFirst ? ', nulls_first=True' : ''}`;
  return `ColumnOrdering(${stringLiteral(column)}${flags})`;
}

/** A list of Python becomes a vector of floats, so other vectors are arrays of numpy. */
const isBytes = ({ distanceType }: NearestSpec): boolean => distanceType === 'hamming';
const isSeveral = (nearest: NearestSpec): boolean => vectorsOf(nearest).length > 1;
const usesNumpy = (nearest: NearestSpec): boolean => isBytes(nearest) || isSeveral(nearest);

function nearestDict(nearest: NearestSpec): string {
  const { column, k, distanceType, useIndex } = nearest;
  const vector = vectorCode(nearest);
  const query = usesNumpy(nearest) ? `np.array(${vector}, dtype=np.${isBytes(nearest) ? 'uint8' : 'float32'})` : vector;
  const given = [
    `"column": ${stringLiteral(column)}`,
    `"q": ${query}`,
    `"k": ${k}`,
    ...(distanceType ? [`"metric": ${stringLiteral(distanceType)}`] : []),
    useIndex === false ? '"use_index": False' : `"refine_factor": ${refineFactorOf(k)}`,
  ];
  return `{${given.join(', ')}}`;
}

function searchFields(nearest: NearestSpec): string[] {
  const { column, k, distanceType, useIndex } = nearest;
  const kind = isSeveral(nearest) ? 'multi_vector' : 'single_vector';
  return [
    `k=${k}`,
    `vector=models.QueryTableRequestVector(${kind}=${vectorCode(nearest)})`,
    `vector_column=${stringLiteral(column)}`,
    ...(distanceType ? [`distance_type=${stringLiteral(distanceType)}`] : []),
    useIndex === false ? 'bypass_vector_index=True' : `refine_factor=${refineFactorOf(k)}`,
    'prefilter=True',
  ];
}

function queryCode(view: ViewOfTable, catalog: Extract<PythonCatalog, { kind: 'rest' }>): string {
  const { namespacePath, name, version, where, orderBy = [], nearest, columns, limit } = view;
  const isSorted = orderBy.length > 0;
  const read = readColumns(view);
  const { imports, open } = openCatalogCode(catalog);
  const request = [
    `id=${stringList([...namespacePath, name])}`,
    ...(version === undefined ? [] : [`version=${version}`]),
    ...(where === undefined ? [] : [`filter=${stringLiteral(where)}`]),
    ...(read ? [`columns=models.QueryTableRequestColumns(column_names=${stringList(read)})`] : []),
    ...(nearest
      ? searchFields(nearest)
      : [`k=${isSorted || limit === undefined ? maxRows : limit}`, 'vector=models.QueryTableRequestVector()']),
  ];
  return [
    ...imports,
    ...computeImport(orderBy, read),
    '',
    open,
    `request = ${callCode('lance_namespace.QueryTableRequest', request)}`,
    'rows = pa.ipc.open_file(io.BytesIO(catalog.query_table(request).data)).read_all()',
    ...(isSorted
      ? [
          `# The server returns rows in the order of ${nearest ? 'their distance' : 'the table'}. pyarrow puts NaN beside null.`,
        ]
      : []),
    // The sort is stable, so that the last column is sorted by first.
    ...orderBy.toReversed().map((ordering) => sortCode(ordering, read)),
    ...((isSorted || nearest) && limit !== undefined ? [`rows = rows.slice(0, ${limit})`] : []),
    ...droppedColumns(columns, read),
  ].join('\n');
}

/** @param read the columns of the rows, if they are not all; a nested field among them is a column */
function sortCode(
  { column, descending = false, nullsFirst = false }: Ordering,
  read: readonly string[] | undefined,
): string {
  const direction = descending ? 'descending' : 'ascending';
  const nulls = `null_placement="at_${nullsFirst ? 'start' : 'end'}"`;
  if (read || !isNestedPath(column))
    return `rows = rows.sort_by([(${stringLiteral(column)}, "${direction}")], ${nulls})`;
  const [name, ...fields] = parseFieldPath(column)!;
  const key = `pc.struct_field(rows[${stringLiteral(name!)}], ${stringList(fields)})`;
  return `rows = rows.take(pc.sort_indices(${key}, sort_keys=[("", "${direction}")], ${nulls}))`;
}

/** Returns the import that the sort by a nested field needs. */
const computeImport = (orderBy: readonly Ordering[], read: readonly string[] | undefined): string[] =>
  !read && orderBy.some(({ column }) => isNestedPath(column)) ? ['import pyarrow.compute as pc'] : [];

const isNestedPath = (column: string): boolean => (parseFieldPath(column)?.length ?? 1) > 1;

/** Writes a call, with an argument a line if it has several. */
const callCode = (callee: string, given: readonly string[]): string =>
  given.length > 1 ? `${callee}(\n    ${given.join(',\n    ')},\n)` : `${callee}(${given.join('')})`;
