import { type RecordBatch, Table as ArrowTable } from '#arrow';
import { type CallOptions, isSamePath } from '#catalog/arguments/options.ts';
import { columnHasher, finish, reset, state } from '#catalog/arrow/rowHash.ts';
import type { Table } from '#catalog/table/table.ts';
import { CatalogError, isCatalogError } from '#shared/errors.ts';
import { nextSteps } from '#shared/nextSteps.ts';
import { rowIdsOf } from './rowKeys.ts';
import { isSameCell, type RowAt, type RowChange, type RowsRead } from './rowChange.ts';
import { firstTaken, nextCount } from './tableRows.ts';

// Compares two versions of a table whose rows have stable ids. Both versions are scanned in their own order, and only the
// rows that differ are read again by their ids.

/**
 * The first id of a row that can't be stable: without stable ids, an id is the number of a fragment times 2^32 plus a
 * position. A table with stable ids numbers its rows from 0.
 */
const firstAddress = 2 ** 32;

/** Ids that one scan compares. They take 9 bytes each, so that memory does not grow with the tables. */
const windowIds = 2 ** 24;

/** What was found of an id: nothing, a row of one version, or rows of both. */
const found = { nothing: 0, before: 1, same: 2, changed: 3, after: 4 } as const;

/** Maximum number of rows that are read by their ids at once. */
const maxTaken = 1_000;

/**
 * Whether the ids of rows identify them in both versions of a table. In a table without stable ids the last row has an
 * address in another fragment than the first one. If the table has only one fragment, no row was ever moved, so that
 * addresses identify rows too.
 */
export async function hasCommonRowIds(before: Table, after: Table, options: CallOptions): Promise<boolean> {
  const isSame = before.name === after.name && isSamePath(before.namespacePath, after.namespacePath);
  if (!isSame) return false;
  try {
    const last = await Promise.all([before, after].map((table) => lastRowId(table, options)));
    return last.every((id) => id < firstAddress);
  } catch (error) {
    // Some servers return no row ids.
    if (isCatalogError(error, 'Unsupported')) return false;
    throw error;
  }
}

/** Returns the id of the last row; -1 if there is none. */
async function lastRowId(table: Table, options: CallOptions): Promise<number> {
  const rows = await table.countRows(undefined, options);
  if (rows === 0) return -1;
  const query = table
    .query()
    .select(['_rowid'])
    .offset(rows - 1)
    .limit(1);
  const [batch] = (await query.toArrow(options)).batches;
  return batch ? Number(rowIdsOf(batch)[0]) : -1;
}

type ScanOptions = {
  /** The columns of the rows of the changes. All are compared. */
  readonly columns: readonly string[];
  readonly rowsRead: RowsRead;
  readonly signal?: AbortSignal | undefined;
};

/** Finds the differing rows of two versions of a table in the order of their ids. */
export async function* changesByRowId(
  before: Table,
  after: Table,
  options: ScanOptions,
): AsyncGenerator<RowChange, void, undefined> {
  const windows = new Set([0]);
  // The first scan finds which windows have rows. A row counts as read only once.
  for (let at = 0; at < firstAddress / windowIds; at++) {
    if (!windows.has(at)) continue;
    const rowsRead = at === 0 ? options.rowsRead : { before: 0, after: 0 };
    const compared = new IdWindow(at * windowIds);
    for (const [side, table] of [['before', before] as const, ['after', after] as const])
      for await (const batch of await scan(table, options)) {
        compared.add(side, batch, options.columns);
        rowsRead[side] += batch.numRows;
        if (at === 0) for (const id of rowIdsOf(batch)) windows.add(Math.floor(Number(id) / windowIds));
      }
    yield* readChanges(before, after, compared.changes(), options);
  }
}

async function scan(table: Table, { columns, signal }: ScanOptions): Promise<AsyncIterable<RecordBatch>> {
  const query =
    columns.length > 0
      ? table
          .query()
          .select([...columns])
          .withRowId()
      : table.query().select(['_rowid']);
  return (await query.execute({ signal })).batches;
}

/** Which rows of a range of ids differ, by the hashes of their values. */
class IdWindow {
  readonly #start: number;
  readonly #found = new Uint8Array(windowIds);
  readonly #first = new Int32Array(windowIds);
  readonly #second = new Int32Array(windowIds);

  constructor(start: number) {
    this.#start = start;
  }

  add(side: 'before' | 'after', batch: RecordBatch, columns: readonly string[]): void {
    const { fields } = batch.schema;
    const hashers = columns.map((name) => {
      const index = fields.findIndex((field) => field.name === name);
      return columnHasher(batch.data.children[index]!, name);
    });
    // The low words of the ids: the high ones are zero.
    const ids = rowIdsOf(batch);
    const words = new Uint32Array(ids.buffer, ids.byteOffset, 2 * ids.length);
    for (let row = 0; row < batch.numRows; row++) {
      const at = words[2 * row]! - this.#start;
      if (words[2 * row + 1] !== 0) throw notStable();
      if (at < 0 || at >= windowIds) continue;
      reset();
      for (const hasher of hashers) hasher.one(row);
      finish();
      if (side === 'before') {
        this.#found[at] = found.before;
        this.#first[at] = state[0]!;
        this.#second[at] = state[1]!;
      } else if (this.#found[at] === found.nothing) this.#found[at] = found.after;
      else {
        const isSame = this.#first[at] === state[0]! && this.#second[at] === state[1]!;
        this.#found[at] = isSame ? found.same : found.changed;
      }
    }
  }

  *changes(): Generator<IdChange> {
    for (let at = 0; at < windowIds; at++) {
      const id = this.#start + at;
      const what = this.#found[at];
      if (what === found.before) yield { kind: 'removed', id };
      else if (what === found.changed) yield { kind: 'changed', id };
      else if (what === found.after) yield { kind: 'added', id };
    }
  }
}

type IdChange = { readonly kind: RowChange['kind']; readonly id: number };

const notStable = (): CatalogError =>
  new CatalogError('Unsupported', 'The rows of the table have no stable ids.', nextSteps.passKey);

/** Reads the rows that differ, some at a time. */
async function* readChanges(
  before: Table,
  after: Table,
  changes: Iterator<IdChange, void>,
  { columns, signal }: ScanOptions,
): AsyncGenerator<RowChange, void, undefined> {
  let count = firstTaken;
  for (let some = take(changes, count); some.length > 0; some = take(changes, count)) {
    const read = (table: Table, other: RowChange['kind']): Promise<ArrowTable> =>
      readRows(
        table,
        some.flatMap(({ kind, id }) => (kind === other ? [] : [id])),
        columns,
        signal,
      );
    const [old, young] = await Promise.all([read(before, 'added'), read(after, 'removed')]);
    const [oldRows, youngRows] = [rowsOf(old), rowsOf(young)];
    for (const { kind, id } of some) {
      if (kind === 'added') yield { kind, rowId: id, after: youngRows.next().value! };
      else if (kind === 'removed') yield { kind, rowId: id, before: oldRows.next().value! };
      else {
        const pair = { before: oldRows.next().value!, after: youngRows.next().value! };
        yield {
          kind,
          rowId: id,
          ...pair,
          columns: columns.filter((name) => !isSameCell(pair.before, pair.after, name)),
        };
      }
    }
    count = nextCount(some.length, [...old.batches, ...young.batches], maxTaken);
  }
}

function take(changes: Iterator<IdChange, void>, count: number): IdChange[] {
  const taken: IdChange[] = [];
  while (taken.length < count) {
    const { value, done } = changes.next();
    if (done === true || !value) break;
    taken.push(value);
  }
  return taken;
}

async function readRows(
  table: Table,
  ids: readonly number[],
  columns: readonly string[],
  signal: AbortSignal | undefined,
): Promise<ArrowTable> {
  if (ids.length === 0) return new ArrowTable();
  const query = table.takeRowIds(ids);
  const rows = await (columns.length > 0 ? query.select([...columns]) : query.select(['_rowid'])).toArrow({ signal });
  if (rows.numRows === ids.length) return rows;
  const what = `${ids.length - rows.numRows} of ${ids.length} rows are no longer in the table.`;
  throw new CatalogError('ConcurrentModification', what, 'Compare again.');
}

function* rowsOf({ batches }: { batches: readonly RecordBatch[] }): Generator<RowAt, undefined> {
  for (const batch of batches) for (let row = 0; row < batch.numRows; row++) yield { batch, row };
  return undefined;
}
