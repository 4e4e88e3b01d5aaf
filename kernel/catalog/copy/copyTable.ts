import { Field, Schema } from '#arrow';
import type { CallOptions } from '#catalog/arguments/options.ts';
import { RowChecksum } from '#catalog/arrow/rowHash.ts';
import type { CopiedTable, CopyOptions } from '#catalog/catalog.ts';
import { namespaceHasName } from '#catalog/nameErrors.ts';
import type { Table } from '#catalog/table/table.ts';
import { blobNames } from '#shared/arrow/blobs.ts';
import { CatalogError, withErrorContext, isCatalogError } from '#shared/errors.ts';
import { fieldPathText } from '#shared/fieldPath.ts';
import { copyIndexes } from './copyIndexes.ts';
import { type CopyState, displayTable, isUnfinished, sourceId, withMark } from './copyState.ts';
import { checksumOf, type RowRange, rowsOf, rowsPerChunk } from './copyRows.ts';
import {
  alreadyThere,
  checkWhole,
  type CopySource,
  dropPlace,
  publishCopy,
  conflictingTableError,
  isCopyOf,
  tableName,
  openTargetTable,
  stagingTable,
  readCopyState,
  type TablePlace,
  type TableState,
  type CopyStrategies,
  type CopyStrategy,
} from './copyTarget.ts';

// A running copy can't be distinguished from a stopped one, because each is a table that names its source and lacks
// rows. So a copy of another source is deleted only if the user requests it.

/** The error if an unfinished copy of another source already has the staging name of this copy. */
function conflictingCopyError(place: TablePlace, target: TablePlace, { mark, rows }: TableState): CatalogError {
  const [there, shown] = [displayTable(place.path), displayTable(target.path)];
  const wanted = mark === undefined ? '' : ` of ${mark.rows}`;
  return new CatalogError(
    'TableAlreadyExists',
    `Can't copy to "${shown}": a copy of another table to this name is running or was stopped ("${there}" has ${rows}${wanted} rows).`,
    `Run that copy again to finish it. To start this copy instead, wait until the other one is not running, then ` +
      `drop "${there}" or copy with overwrite (--overwrite on the command line).`,
    { identifier: shown },
  );
}

/**
 * Runs a call that starts or ends a copy. If the name is unexpectedly taken or missing, another copy runs at the same
 * time.
 * @throws CatalogError ConcurrentModification (14)
 */
async function withConflictErrors<T>(place: TablePlace, target: TablePlace, call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (cause) {
    if (!isCatalogError(cause, 'TableAlreadyExists') && !isCatalogError(cause, 'TableNotFound')) throw cause;
    const [there, shown] = [displayTable(place.path), displayTable(target.path)];
    throw new CatalogError(
      'ConcurrentModification',
      `Can't copy to "${shown}": another copy to this name started at the same time, and is running, was stopped or has finished.`,
      `Let it finish and copy again, which continues it or finds "${shown}" complete; or drop "${there}" and copy again.`,
      { identifier: shown, cause },
    );
  }
}

/** Entries of the engine in a column's metadata: whether and how the values are computed, and the last refresh. */
const computed = /^computed_(column|refresh)($|\.)/;

/**
 * Returns the schema of a copy. A computed column becomes a plain one, because computed columns can't be written; the
 * copy has the computed values.
 * @throws CatalogError Unsupported (0) for a column of blobs, because a query returns only their location
 */
export function schemaOfCopy(table: string, stored: Schema): { schema: Schema; warnings: string[] } {
  const warnings: string[] = [];
  const fields = stored.fields.map((field) => {
    const blobs = blobNames(field);
    if (blobs) {
      throw new CatalogError(
        'Unsupported',
        `Can't copy table "${table}": its column "${fieldPathText(blobs)}" holds blobs, and a query returns only their location.`,
        'Leave the column out: create the table from a query that selects the other columns.',
      );
    }
    const kept = [...field.metadata].filter(([key]) => !computed.test(key));
    if (kept.length === field.metadata.size) return field;
    warnings.push(`The column "${field.name}" is computed in the source; the copy has its current values.`);
    return new Field(field.name, field.type, field.nullable, new Map(kept));
  });
  return { schema: new Schema(fields, stored.metadata), warnings };
}

// A copy can be killed at any moment and resumed, and an unfinished copy is never mistaken for a complete one:
//
// Rows are added in chunks; each chunk is one version of the copy, complete or absent. The number of rows shows how
// many chunks are done. A mark in the schema metadata, created with the table, names the source. Each chunk is read
// back and compared before the next one. A resumed copy compares the last existing chunk again, because the earlier
// copy may have stopped before it compared this chunk.
//
// - If the target can rename tables, the rows are added under a staging name; the rename at the end completes the copy.
// - If the target can't rename tables but can change metadata, the rows are added under the final name, and the mark
//   says that the copy is unfinished.
// - Otherwise all rows are written as one chunk, which is also complete or absent, and the copy can't be resumed.

/**
 * Larger chunks need too much memory, because the engine holds a chunk several times while it writes it. Smaller chunks
 * make a table slow to read.
 */
const defaultChunkBytes = 64 * 1024 * 1024;

/** Copies one table. @throws CatalogError InvalidTableState (19) if the source is itself an unfinished copy */
export function copyTable(
  source: CopySource,
  target: TablePlace,
  strategies: CopyStrategies,
  options: CopyOptions,
): Promise<CopiedTable> {
  return withErrorContext({ identifier: displayTable(source.path) }, () => copy(source, target, strategies, options));
}

async function copy(
  source: CopySource,
  target: TablePlace,
  strategies: CopyStrategies,
  options: CopyOptions,
): Promise<CopiedTable> {
  const { signal } = options;
  const from = { place: source, id: sourceId(source.identity, source.path), version: 0 };
  const newest = await openTargetTable(source, { signal });
  from.version = await newest.version({ signal });
  checkWhole(source, await newest.schema({ signal }));

  const existing = await readCopyState(target, { signal });
  const isHalf = existing?.mark !== undefined && isUnfinished(existing.mark, tableName(target));
  const isOurs = existing?.mark?.source === from.id;
  if (existing && isOurs && !isHalf && (await isCopyOf(existing, newest, from.version, { signal }))) {
    const indexes = (await existing.table.listIndices({ signal })).map(({ name }) => name);
    return { ...ends(source, target), ...counts(existing.mark!), how: 'there', indexes, warnings: [] };
  }
  if (existing && !options.overwrite && !(isHalf && isOurs)) {
    throw isHalf ? conflictingCopyError(target, target, existing) : alreadyThere(target, isOurs);
  }
  if (!existing && (await target.catalog.namespaceExists(target.path, { signal }))) throw namespaceHasName(target.path);

  const learn = () => strategies.of(target, existing !== undefined, { signal });
  const way = await withConflictErrors(stagingTable(target), target, learn);
  const place = way.renames ? stagingTable(target) : target;
  const begun = way.renames ? await readCopyState(place, { signal }) : isHalf ? existing : undefined;
  if (way.renames && begun && begun.mark === undefined) throw conflictingTableError(place);
  const goingOn = begun && (await goOn(from, begun, { signal }));
  if (begun && !goingOn && way.renames) {
    if (begun.mark?.source !== from.id && !options.overwrite) throw conflictingCopyError(place, target, begun);
    await dropPlace(place, { signal });
  }
  const job = goingOn ?? (await startOver(from, way, options));

  const isThere = way.renames ? goingOn !== undefined : existing !== undefined;
  const made = await copyRows(job, { place, target }, isThere, options);
  const { indexes, warnings } = await copyIndexes(job.table, made, { signal });
  const end = { made, mark: job.mark, place, target, way, replaces: existing !== undefined };
  await withConflictErrors(place, target, () => publishCopy(end, { signal }));
  return {
    ...ends(source, target),
    ...counts(job.mark),
    how: goingOn ? 'resumed' : 'copied',
    indexes,
    warnings: [...way.warnings, ...job.warnings, ...warnings],
  };
}

const ends = (source: TablePlace, target: TablePlace) => ({
  from: displayTable(source.path),
  to: displayTable(target.path),
});
const counts = ({ version, rows }: CopyState) => ({ version, rows });

type From = { place: TablePlace; id: string; version: number };

/** A source table at its version, the mark of its copy, and the number of rows already copied. */
type Job = { table: Table; schema: Schema; mark: CopyState; done: number; warnings: string[] };

/** Returns the job to resume an earlier copy; `undefined` if that copy can't be resumed. */
async function goOn({ place, id }: From, begun: TableState, options: CallOptions): Promise<Job | undefined> {
  const { mark, rows: done } = begun;
  if (mark?.source !== id || done > mark.rows) return undefined;
  if (done % mark.chunkRows !== 0 && done !== mark.rows) return undefined;
  const table = await openTargetTable(place, { ...options, version: mark.version }).catch((error: unknown) => {
    // That version of the source was deleted since the earlier copy.
    if (isCatalogError(error, 'VersionNotFound')) return undefined;
    throw error;
  });
  if (!table) return undefined;
  if (done > 0) {
    const count = done % mark.chunkRows || mark.chunkRows;
    const last = { start: done - count, count };
    if ((await checksumOf(table, last, options)) !== (await checksumOf(begun.table, last, options))) return undefined;
  }
  return { ...(await jobOf(table, mark, options)), done };
}

async function startOver({ place, id, version }: From, way: CopyStrategy, options: CopyOptions): Promise<Job> {
  const { signal, chunkBytes = defaultChunkBytes } = options;
  const table = await openTargetTable(place, { signal, version });
  const rows = await table.countRows(undefined, { signal });
  const isOnePiece = !way.renames && !way.marks;
  const chunkRows = isOnePiece ? Math.max(1, rows) : await rowsPerChunk(table, chunkBytes, { signal });
  const state = way.renames ? 'staged' : way.marks ? 'copying' : 'finished';
  const mark: CopyState = { source: id, version, rows, chunkRows, state };
  return { ...(await jobOf(table, mark, { signal })), done: 0 };
}

async function jobOf(table: Table, mark: CopyState, options: CallOptions): Promise<Omit<Job, 'done'>> {
  const { schema, warnings } = schemaOfCopy(table.name, await table.schema(options));
  return { table, schema: withMark(schema, mark), mark, warnings };
}

type Places = { place: TablePlace; target: TablePlace };

async function copyRows(job: Job, { place, target }: Places, isThere: boolean, options: CopyOptions): Promise<Table> {
  const { table, schema, mark } = job;
  const { signal } = options;
  const [name, namespacePath] = [tableName(place), place.path.slice(0, -1)];
  const mode = isThere ? 'overwrite' : 'create';
  let made = job.done > 0 ? await openTargetTable(place, { signal }) : undefined;
  const report = (rowsDone: number) =>
    options.onProgress?.({ table: displayTable([...table.namespacePath, table.name]), rowsDone, rowsTotal: mark.rows });
  report(job.done);
  for (let done = job.done; done < mark.rows; done += mark.chunkRows) {
    const range = { start: done, count: Math.min(mark.chunkRows, mark.rows - done) };
    const sum = new RowChecksum();
    const batches = rowsOf(table, schema, range, sum, { signal, onRows: (rows) => report(done + rows) });
    if (made) await made.add(batches, { signal });
    else {
      const begin = () => place.catalog.createTable(name, batches, namespacePath, { mode, schema, signal });
      made = await withConflictErrors(place, target, begin);
    }
    await compare(made, range, sum.value, { signal });
  }
  return made ?? place.catalog.createEmptyTable(name, schema, namespacePath, { mode, signal });
}

/**
 * Reads back the rows just added.
 * @throws CatalogError Internal (18) if they differ from the rows sent, ConcurrentModification (14) if the copy has
 * another number of rows than expected
 */
async function compare(made: Table, range: RowRange, sum: string, options: CallOptions): Promise<void> {
  const rows = await made.countRows(undefined, options);
  const end = range.start + range.count;
  if (rows !== end) {
    throw new CatalogError(
      'ConcurrentModification',
      `Can't continue the copy: expected ${end} rows in "${made.name}", got ${rows}. Another client may write to it.`,
      'It may be another copy to the same table: let it finish, then copy again.',
    );
  }
  if ((await checksumOf(made, range, options)) === sum) return;
  throw new CatalogError(
    'Internal',
    `The copy "${made.name}" differs from its source in the rows ${range.start} to ${end - 1}.`,
    'Copy again. If the table already exists, set overwrite (in a terminal: --overwrite).',
  );
}
