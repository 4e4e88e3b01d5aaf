import { Field, Float32, makeData, RecordBatch, Schema, Struct, Table as ArrowTable } from '#arrow';
import type { CallOptions } from '#catalog/arguments/options.ts';
import { indexTypes } from '#catalog/table/indexes.ts';
import type { Query } from '#catalog/query/query.ts';
import type { Table } from '#catalog/table/table.ts';
import { typeText } from '#shared/arrow/arrowTypes.ts';
import { CatalogError, isCatalogError } from '#shared/errors.ts';
import type { NearestFacts } from '#shared/protocol/webviewMessages.ts';
import {
  distanceColumn,
  type DistanceType,
  distanceTypes,
  parseVectorType,
  type VectorType,
  vectorProblem,
  whyUnsearchable,
} from '#shared/vectorTypes.ts';
import { findFilter } from './foundRows.ts';
import { keyReader, type KeyValue, rowOrder } from './keyOrder.ts';
import { filteredQuery, type ViewSpec } from './listRows.ts';
import { keyColumns, rowIdsOf } from './rowKeys.ts';
import { checkNearest, type NearestSpec, refineFactorOf, vectorsOf } from './nearestSpec.ts';
import type { RowSearch } from './searchRows.ts';

/** The rows nearest to a vector, in the order of a view, and their distances. */
export type NearestRows = {
  readonly ids: BigUint64Array;
  readonly distances: Float32Array;
  readonly facts: NearestFacts;
  /** How the text of the view was searched. */
  readonly search: RowSearch | undefined;
};

/**
 * Finds the nearest rows among those that pass the filter and the search of a view. They are in the order of their distance, or sorted by
 * columns; rows with equal values stay in the order of their distance. Rows whose vector is null or has NaN are left out,
 * and with `cosine` those whose vector is zero, because they have no distance.
 * @throws CatalogError ColumnNotFound (12), InvalidInput (13) for a vector that does not fit the column, Unsupported (0)
 * for a type that can't be searched
 */
export async function findNearest(
  table: Table,
  spec: ViewSpec & { readonly nearest: NearestSpec },
  { signal }: CallOptions,
): Promise<NearestRows> {
  const nearest = checkNearest('nearest', spec.nearest);
  const type = await findVectorType(table, nearest, signal);
  checkVectors(nearest, type, nearest.distanceType);
  const index = await findIndex(table, nearest, signal);
  const distanceType = nearest.distanceType ?? (index ? index.distanceType : type.distanceTypes[0]);
  checkVectors(nearest, type, distanceType);
  // The engine would ignore an index of another distance without an error.
  const canUseIndex = index !== undefined && (index.distanceType ?? distanceType) === distanceType;
  const wantsIndex = canUseIndex && nearest.useIndex !== false;
  const orderBy = spec.orderBy ?? [];
  const keys = keyColumns(orderBy).filter((column) => column !== distanceColumn);
  const startedAt = performance.now();
  const { where, search: text } = await findFilter(table, spec, { signal });
  const search = filteredQuery(table, { where })
    .nearestTo(vectorArgument(nearest), {
      column: nearest.column,
      ...(distanceType && { distanceType }),
      ...(wantsIndex ? { refineFactor: refineFactorOf(nearest.k) } : { bypassVectorIndex: true }),
    })
    .select([distanceColumn, ...keys])
    .withRowId()
    .limit(nearest.k);
  const { batches } = await search.toArrow({ signal });
  const milliseconds = performance.now() - startedAt;
  const rows = batches.flatMap((batch) =>
    readFoundRows(
      batch,
      orderBy.map(({ column }) => column),
    ),
  );
  const compareKeys = rowOrder(orderBy);
  rows.sort((a, b) => compareKeys(a.keys, b.keys) || a.distance - b.distance || (a.id < b.id ? -1 : 1));
  return {
    ids: BigUint64Array.from(rows, ({ id }) => id),
    distances: Float32Array.from(rows, ({ distance }) => distance),
    facts: {
      distanceType,
      index: index && { type: index.type, distanceType: index.distanceType },
      usesIndex: wantsIndex && (await plansIndex(search, signal)),
      milliseconds,
    },
    search: text,
  };
}

const vectorArgument = (nearest: NearestSpec): readonly number[] | readonly (readonly number[])[] => {
  const vectors = vectorsOf(nearest);
  return vectors.length === 1 ? vectors[0]! : vectors;
};

/** @throws CatalogError ColumnNotFound (12), InvalidInput (13), Unsupported (0) */
async function findVectorType(
  table: Table,
  { column }: NearestSpec,
  signal: AbortSignal | undefined,
): Promise<VectorType> {
  const { fields } = await table.schema({ signal });
  const names = fields.map(({ name }) => name);
  const field = fields.find(({ name }) => name === column);
  if (!field) {
    const what = `"${table.name}" has no column "${column}".`;
    throw new CatalogError('ColumnNotFound', what, 'Search by a column of vectors.');
  }
  if (names.includes(distanceColumn)) {
    const what = `Can't search "${table.name}": it has a column "${distanceColumn}", the name of the column of distances.`;
    throw new CatalogError('Unsupported', what, 'Rename the column.');
  }
  const type = parseVectorType(typeText(field.type));
  if (type) return type;
  const what = `Can't search "${column}": ${whyUnsearchable(typeText(field.type))}.`;
  throw new CatalogError('Unsupported', what, 'Search by a column of vectors.');
}

/** @throws CatalogError InvalidInput (13) */
function checkVectors(nearest: NearestSpec, type: VectorType, distanceType: DistanceType | undefined): void {
  if (distanceType !== undefined && !type.distanceTypes.includes(distanceType)) {
    const what = `Can't measure "${distanceType}" between the vectors of "${nearest.column}".`;
    throw new CatalogError('InvalidInput', what, `Use ${type.distanceTypes.join(' or ')}.`);
  }
  const problem = vectorProblem(vectorsOf(nearest), type, distanceType);
  if (problem === undefined) return;
  const isZero = problem.includes('cosine');
  const hint = isZero ? 'Use l2 or dot, or another vector.' : `Search "${nearest.column}" by another vector.`;
  throw new CatalogError('InvalidInput', `${problem}.`, hint);
}

type VectorIndex = { readonly type: string; readonly distanceType: DistanceType | undefined };

/** Returns the vector index of a column; `undefined` if there is none, or if the server does not list indexes. */
async function findIndex(
  table: Table,
  nearest: NearestSpec,
  signal: AbortSignal | undefined,
): Promise<VectorIndex | undefined> {
  const { column } = nearest;
  try {
    const indexes = await table.listIndices({ signal });
    const found = indexes.find(({ columns, type = '' }) => columns.join() === column && isVectorIndex(type));
    if (!found) return undefined;
    const { distanceType } = await table.indexStats(found.name, { signal });
    const known = findDistanceType(distanceType) ?? (await plannedDistance(table, nearest, signal));
    return { type: found.type ?? 'vector', distanceType: known };
  } catch (error) {
    if (isCatalogError(error, 'Unsupported') || isCatalogError(error, 'PermissionDenied')) return undefined;
    throw error;
  }
}

const isVectorIndex = (type: string): boolean =>
  type in indexTypes ? indexTypes[type as keyof typeof indexTypes] === 'vector' : /^IVF/i.test(type);

const findDistanceType = (text: string | undefined): DistanceType | undefined =>
  distanceTypes.find((known) => known === text?.toLowerCase());

/** Whether the plan of a search reads an index. A server without plans is trusted. */
async function plansIndex(search: Query, signal: AbortSignal | undefined): Promise<boolean> {
  const plan = await explain(search, signal);
  return plan === undefined || /\bANN/.test(plan);
}

/** Returns the distance of an index from the plan of a search, because not every server tells it otherwise. */
async function plannedDistance(
  table: Table,
  nearest: NearestSpec,
  signal: AbortSignal | undefined,
): Promise<DistanceType | undefined> {
  const { column } = nearest;
  const plan = await explain(table.query().nearestTo(vectorArgument(nearest), { column }).limit(1), signal);
  return findDistanceType(/\bANN[^\n]*\bmetric=(\w+)/.exec(plan ?? '')?.[1]);
}

async function explain(search: Query, signal: AbortSignal | undefined): Promise<string | undefined> {
  try {
    return await search.explainPlan({ signal });
  } catch (error) {
    if (!isCatalogError(error)) throw error;
    return undefined;
  }
}

type FoundRow = { readonly id: bigint; readonly distance: number; readonly keys: readonly KeyValue[] };

/** @throws CatalogError Unsupported (0) if the server returned no distances or row ids */
function readFoundRows(batch: RecordBatch, keys: readonly string[]): FoundRow[] {
  const columnOf = (name: string) => batch.data.children[batch.schema.fields.findIndex((field) => field.name === name)];
  const distances = columnOf(distanceColumn);
  if (!distances && batch.numRows > 0)
    throw new CatalogError('Unsupported', 'The server returned rows without their distances.', 'Use SQL instead.');
  const readDistance = keyReader(distances, distanceColumn);
  const readers = keys.map((name) => keyReader(columnOf(name), name));
  return Array.from(rowIdsOf(batch), (id, row) => ({
    id,
    distance: Number(readDistance(row)),
    keys: readers.map((read) => read(row)),
  }));
}

/** The column that a search adds. */
// Arrow is loaded when it is used first, so this is not a constant.
const distanceField = (): Field<Float32> => new Field(distanceColumn, new Float32(), true);

/**
 * Returns rows with the column of their distances, at its place among `columns`; by default after all others.
 * @param distances of these rows, in their order
 */
export function withDistances(
  rows: ArrowTable,
  distances: Float32Array,
  columns: readonly string[] | undefined,
): ArrowTable {
  const { fields } = rows.schema;
  const position = columns ? columns.indexOf(distanceColumn) : fields.length;
  if (position < 0) return rows;
  const schema = new Schema(fields.toSpliced(position, 0, distanceField()));
  let start = 0;
  const batches = rows.batches.map(({ numRows, data }) => {
    const part = makeData({ type: new Float32(), length: numRows, data: distances.slice(start, start + numRows) });
    start += numRows;
    const children = fields.map((_, index) => data.children[index]!).toSpliced(position, 0, part);
    return new RecordBatch(
      schema,
      makeData({ type: new Struct(schema.fields), length: numRows, nullCount: 0, children }),
    );
  });
  return new ArrowTable(schema, batches);
}

/** Returns a table of distances alone. */
export function distancesTable(distances: Float32Array): ArrowTable {
  const schema = new Schema([distanceField()]);
  const child = makeData({ type: new Float32(), length: distances.length, data: distances });
  const data = makeData({ type: new Struct(schema.fields), length: distances.length, nullCount: 0, children: [child] });
  return new ArrowTable(schema, [new RecordBatch(schema, data)]);
}
