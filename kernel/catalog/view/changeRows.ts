import { type Data, type DataType, Field, List, makeData, RecordBatch, Schema, Struct, Uint64, Utf8 } from '#arrow';
import { buildColumn } from '#catalog/arrow/buildColumn.ts';
import { convertValue } from '#catalog/arrow/convertValue.ts';
import { gatherValues } from '#catalog/arrow/gatherRows.ts';
import { columnReader } from '#catalog/arrow/rowValues.ts';
import type { ExportedRows } from '#catalog/export/exportFormats.ts';
import { nullData } from '#shared/arrow/nullData.ts';
import type { ChangeKind } from '#shared/protocol/changes.ts';
import { type ChangeNames, changeNames } from './changeNames.ts';
import type { TableComparison } from './compareTables.ts';
import type { RowAt, RowChange } from './rowChange.ts';

/** The columns of the rows of a comparison. */
export type ChangeColumns = ChangeNames & {
  /**
   * `change`, `_rowid` if row ids identify the rows, the compared columns, `changed` with the names of those that have
   * changed, and for each of them without the key its value before a change.
   */
  readonly schema: Schema;
  /** The compared columns; those of the key are first. */
  readonly columns: readonly string[];
};

/** Rows of a batch, and bytes of the batches that they are taken from. The rows may be far apart. */
const maxRows = 500;
const maxBytes = 32 * 2 ** 20;

// Arrow is loaded when it is used first, so this is not a constant.
const namesType = (): List<Utf8> => new List(new Field('item', new Utf8(), false));

/** Returns the columns of the rows of a comparison. */
export function changeColumns({ schema: { fields }, key }: Pick<TableComparison, 'schema' | 'key'>): ChangeColumns {
  const columns = fields.map(({ name }) => name);
  const { kind, rowId, changed, before } = changeNames(columns, key);
  const schema = new Schema([
    new Field(kind, new Utf8(), false),
    ...(rowId === undefined ? [] : [new Field(rowId, new Uint64(), false)]),
    ...fields.map(({ name, type, metadata }) => new Field(name, type, true, metadata)),
    new Field(changed, namesType(), true),
    ...fields.flatMap(({ name, type, metadata }) => {
      const earlier = before.get(name);
      return earlier === undefined ? [] : [new Field(earlier, type, true, metadata)];
    }),
  ]);
  return { schema, kind, rowId, changed, columns, before };
}

/** Puts the rows of a comparison together as batches. */
export class ChangeRows {
  readonly #columns: ChangeColumns;
  #changes: RowChange[] = [];
  readonly #batches = new Set<RecordBatch>();
  #bytes = 0;

  constructor(columns: ChangeColumns) {
    this.#columns = columns;
  }

  /** Adds a row. Returns a batch if there are enough rows. */
  add(change: RowChange): RecordBatch | undefined {
    this.#changes.push(change);
    for (const at of ['before', 'after'] as const) {
      const batch = (change as Partial<Record<typeof at, RowAt>>)[at]?.batch;
      if (!batch || this.#batches.has(batch)) continue;
      this.#batches.add(batch);
      this.#bytes += batch.data.byteLength;
    }
    return this.#changes.length >= maxRows || this.#bytes >= maxBytes ? this.take() : undefined;
  }

  /** Returns a batch of the rows that were added since the last one. */
  take(): RecordBatch | undefined {
    const changes = this.#changes;
    if (changes.length === 0) return undefined;
    this.#changes = [];
    this.#batches.clear();
    this.#bytes = 0;
    return changeBatch(changes, this.#columns);
  }
}

/**
 * Returns the rows of a comparison, or those of a kind, as they are found, so that memory does not grow with them. They can
 * be read once.
 */
export function readChangeRows(
  comparison: Pick<TableComparison, 'changes' | 'schema' | 'key'>,
  kind: ChangeKind | null,
): ExportedRows {
  const columns = changeColumns(comparison);
  return {
    schema: columns.schema,
    batches: (async function* () {
      const rows = new ChangeRows(columns);
      for await (const change of comparison.changes) {
        const batch = kind === null || change.kind === kind ? rows.add(change) : undefined;
        if (batch) yield batch;
      }
      const last = rows.take();
      if (last) yield last;
    })(),
  };
}

/**
 * Returns the columns that make some columns of a comparison understood: with them the kind, what identifies the rows, the
 * names of changed columns, and the values before.
 */
export function withChangeColumns(
  { schema, kind, rowId, changed, columns, before }: ChangeColumns,
  some: readonly string[],
): string[] {
  const key = columns.filter((name) => !before.has(name));
  const wanted = new Set([kind, ...(rowId === undefined ? [] : [rowId]), ...key, ...some, changed]);
  for (const name of some) if (before.has(name)) wanted.add(before.get(name)!);
  return schema.fields.map(({ name }) => name).filter((name) => wanted.has(name));
}

function changeBatch(changes: readonly RowChange[], { schema, rowId, columns, before }: ChangeColumns): RecordBatch {
  const current = changes.map((change) => (change.kind === 'removed' ? change.before : change.after));
  const children = [
    buildColumn(
      new Utf8(),
      changes.map(({ kind }) => kind),
    ),
    ...(rowId === undefined
      ? []
      : [
          buildColumn(
            new Uint64(),
            changes.map((change) => BigInt(change.rowId!)),
          ),
        ]),
    ...columns.map((name) => gatherColumn(typeOf(schema, name), name, current)),
    buildColumn(
      namesType(),
      changes.map((change) => (change.kind === 'changed' ? change.columns : null)),
    ),
    ...[...before].map(([name, earlier]) =>
      gatherColumn(
        typeOf(schema, earlier),
        name,
        changes.map((change) =>
          change.kind === 'changed' && change.columns.includes(name) ? change.before : undefined,
        ),
      ),
    ),
  ];
  const type = new Struct(schema.fields);
  return new RecordBatch(schema, makeData({ type, length: changes.length, nullCount: 0, children }));
}

const typeOf = (schema: Schema, name: string): DataType =>
  schema.fields.find((field) => field.name === name)!.type as DataType;

/** Returns the values of a column of rows; null where there is no row. */
function gatherColumn(type: DataType, name: string, rows: readonly (RowAt | undefined)[]): Data {
  if (rows.every((row) => row === undefined)) return nullData(type, rows.length);
  // Nulls that follow each other are one slice.
  const sources = [nullData(type, rows.length)];
  const starts = new Map<RecordBatch, number>();
  let length = rows.length;
  const positions = rows.map((at, index) => {
    if (!at) return index;
    const known = starts.get(at.batch);
    if (known !== undefined) return known + at.row;
    const start = length;
    starts.set(at.batch, start);
    sources.push(childOf(at.batch, type, name));
    length += at.batch.numRows;
    return start + at.row;
  });
  const gathered = gatherValues(type, sources, positions);
  if (gathered.length === 1) return gathered[0]!;
  // Some types, for example dictionaries, can't be joined.
  const readers = new Map([...starts.keys()].map((batch) => [batch, columnReader(childOf(batch, type, name))]));
  return buildColumn(
    type,
    rows.map((at, row) => convertValue(type, at && readers.get(at.batch)!(at.row), { row, column: name })),
  );
}

/** Arrow leaves out a column that is shorter than its batch. */
const childOf = ({ schema, data }: RecordBatch, type: DataType, name: string): Data =>
  data.children[schema.fields.findIndex((field) => field.name === name)] ?? nullData(type, data.length);
