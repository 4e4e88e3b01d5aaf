import { DataType, Vector, type Field, type RecordBatch } from '#arrow';
import type { Table } from '#catalog/table/table.ts';
import { mergeBatch } from './mergeBatch.ts';
import {
  fragmentId,
  hashesOf,
  hashesOfData,
  sliceComputed,
  rowRuns,
  type ComputedRows,
  type ReadRows,
} from './rows.ts';
import { sqlName } from '#catalog/sqlText.ts';

/** Computed rows compared with another version of the table. */
export type ChangedRows = {
  readonly same: readonly ComputedRows[];
  /** Rows in scope whose inputs differ, with their inputs in the other version. */
  readonly changed: readonly ReadRows[];
  /** Rows that are no longer in scope: their keys, and the values of the column in the other version. */
  readonly outside: readonly RecordBatch[];
};

type ComparedTable = {
  /** Pinned to the version to compare with. */
  readonly table: Table;
  readonly key: Field;
  readonly column: Field;
  readonly inputs: readonly string[];
  readonly scope: string;
  /** Hashes of values that this job wrote, by key. A row with such a value still counts as in scope. */
  readonly written: ReadonlyMap<unknown, bigint>;
};

const names = {
  address: '__lance_catalog_address',
  key: '__lance_catalog_key',
  scope: '__lance_catalog_scope',
  column: '__lance_catalog_column',
} as const;

type Status = 'same' | 'changed' | 'outside' | 'other';

/** Finds rows by key in the version of `at`. Rows that are deleted in that version are in none of the three lists. */
export async function compareRows(
  at: ComparedTable,
  rows: readonly ComputedRows[],
  signal: AbortSignal,
): Promise<ChangedRows> {
  const places = new Map<unknown, { rows: ComputedRows; row: number }>();
  for (const some of rows) {
    const keys = new Vector([some.key!]);
    for (let row = 0; row < some.value.length; row++) places.set(keys.get(row), { rows: some, row });
  }
  const isSame = new Map(rows.map((some) => [some, new Uint8Array(some.value.length)]));
  const changed: ReadRows[] = [];
  const outside: RecordBatch[] = [];
  for await (const batch of scan(at, [...places.keys()], signal)) {
    const part = partsOf(batch, at);
    const statuses = Array.from({ length: batch.numRows }, (_, row): Status => {
      const key: unknown = part.keys.get(row);
      const place = places.get(key);
      if (!place) return 'other';
      const written = at.written.get(key);
      const isInScope = written === undefined ? part.scope.get(row) === true : part.values()[row] === written;
      if (!isInScope) return 'outside';
      if (part.hashes[row] !== place.rows.hashes[place.row]) return 'changed';
      isSame.get(place.rows)![place.row] = 1;
      return 'same';
    });
    for (const { start, end, is } of rowRuns(batch.numRows, (row) => statuses[row]!)) {
      const length = end - start;
      if (is === 'outside') {
        outside.push(
          mergeBatch(at.key, at.column, part.keyData.slice(start, length), part.columnData.slice(start, length)),
        );
      }
      if (is === 'changed') changed.push(...readStretch(part, start, end));
    }
  }
  const same = rows.flatMap((some) => {
    const flags = isSame.get(some)!;
    return [...rowRuns(flags.length, (row) => flags[row] === 1)].flatMap(({ start, end, is }) =>
      is ? [sliceComputed(some, start, end)] : [],
    );
  });
  return { same, changed, outside };
}

type Parts = ReturnType<typeof partsOf>;

function* readStretch(part: Parts, start: number, end: number): Generator<ReadRows> {
  const addresses = part.addresses.subarray(start, end);
  for (const piece of rowRuns(addresses.length, (row) => fragmentId(addresses[row]!))) {
    const from = start + piece.start;
    const length = piece.end - piece.start;
    yield {
      fragment: piece.is,
      addresses: addresses.subarray(piece.start, piece.end),
      inputs: part.inputs.slice(from, from + length),
      key: part.keyData.slice(from, length),
      value: undefined,
    };
  }
}

async function* scan(at: ComparedTable, keys: readonly unknown[], signal: AbortSignal): AsyncGenerator<RecordBatch> {
  const columns = {
    ...Object.fromEntries(at.inputs.map((name) => [name, sqlName(name)])),
    [names.address]: '_rowaddr',
    [names.key]: sqlName(at.key.name),
    [names.scope]: `(${at.scope})`,
    [names.column]: sqlName(at.column.name),
  };
  const range = rangeOf(at.key, keys);
  const query = range === undefined ? at.table.query() : at.table.query().where(range);
  const { batches } = await query.select(columns).execute({ signal });
  yield* batches;
}

/** Filters by the range of integer keys, so that few rows don't need a full scan. */
function rangeOf({ name, type }: Field, keys: readonly unknown[]): string | undefined {
  if (!DataType.isInt(type) || keys.length === 0) return undefined;
  const numbers = (keys as readonly (bigint | number)[]).map(BigInt);
  let [least, most] = [numbers[0]!, numbers[0]!];
  for (const key of numbers) {
    if (key < least) least = key;
    if (key > most) most = key;
  }
  return `${sqlName(name)} >= ${least} AND ${sqlName(name)} <= ${most}`;
}

function partsOf(batch: RecordBatch, { inputs }: ComparedTable) {
  const data = (name: string) => batch.data.children[batch.schema.fields.findIndex((field) => field.name === name)]!;
  const picked = batch.select(inputs.length > 0 ? [...inputs] : [names.address]);
  const keyData = data(names.key);
  const columnData = data(names.column);
  let values: BigUint64Array | undefined;
  return {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the engine's own column, read by the same query before
    addresses: new Vector([data(names.address)]).toArray() as BigUint64Array,
    inputs: picked,
    hashes: hashesOf(picked, inputs),
    keyData,
    keys: new Vector([keyData]),
    scope: new Vector([data(names.scope)]),
    columnData,
    values: () => (values ??= hashesOfData([columnData], batch.numRows)),
  };
}
