import { type Field, Schema } from '#arrow';
import { sqlName } from '#catalog/sqlText.ts';
import type { IndexInfo, Table } from '#catalog/table/table.ts';
import { fixedWidth, sampledWidth } from '#engine/batches/batchLength.ts';
import { checkFits } from '#jobs/definition/registration.ts';
import { madeAll, readCompleteness, readStored, valuesKey } from '#jobs/definition/storedFunction.ts';
import type { DriverPlan } from '#jobs/driver/driverResults.ts';
import { fragmentsPerCommit, isOpenEnded, type JobSpec, specOf } from '#jobs/jobSpec.ts';
import { Checkpoints } from '#jobs/local/checkpoints/checkpoints.ts';
import { openBesideTable } from '#jobs/local/checkpoints/openStore.ts';
import { mostBytesPerCommit, pendingBytesPerRow } from '#jobs/local/fillRows.ts';
import { findKey, type KeyColumn } from '#jobs/local/keyColumn.ts';
import { ownName } from '#jobs/local/keyIndex.ts';
import { Reusable } from '#jobs/local/reusable.ts';
import { countScope } from '#jobs/local/scopeCount.ts';
import { openSource, scopeOf, type Source } from '#jobs/local/source.ts';
import { knownRunners, loadRunner } from '#jobs/runners/all.ts';
import { withTempFolder } from '#processes/files.ts';
import { isCatalogError } from '#shared/errors.ts';
import { countText } from '#shared/format/numbers.ts';
import type { BackfillPlan, BackfillTrial, Figure } from '#shared/jobs/jobPlan.ts';
import { loadLazy } from '#shared/loadLazy.ts';
import { checkWhere } from './checkWhere.ts';
import { chooseRunner, type ChoosingRequest, type RunnerChoice, type Runners } from './chooseRunner.ts';

export const countedFigure = (value: number): Figure => ({ value, basis: 'counted' });

export const estimated = (value: number, estimatedFrom: string): Figure => ({
  value: Math.round(value),
  basis: { estimatedFrom },
});

/** Rows to read for the average size of values. */
const sampleRows = 1000;

/**
 * Returns the bytes of rows in some columns. They are counted for types of fixed width, and estimated from a sample for
 * other types.
 */
export async function bytesOfRows(
  table: Table,
  fields: readonly Field[],
  rows: number,
  scope: string,
  signal: AbortSignal,
): Promise<Figure> {
  if (fields.length === 0 || rows === 0) return countedFigure(0);
  const { schema } = await table
    .query()
    .select(fields.map(({ name }) => name))
    .limit(0)
    .execute({ signal });
  const width = fixedWidth(schema);
  if (width !== undefined) return countedFigure(rows * width);
  const sample = await table
    .query()
    .where(scope)
    .select(fields.map(({ name }) => name))
    .limit(sampleRows)
    .toArrow({ signal });
  return estimated(rows * sampledWidth(sample.batches), `${countText(sample.numRows)} rows`);
}

export async function bytesOfValues(
  { pinned, isColumnThere }: Pick<Source, 'pinned' | 'isColumnThere'>,
  column: Field,
  rows: number,
  signal: AbortSignal,
): Promise<Figure> {
  if (rows === 0) return countedFigure(0);
  const width = fixedWidth(new Schema([column]));
  if (width !== undefined) return estimated(rows * width, `${width} bytes per value, one value per row`);
  const there = pinned
    .query()
    .where(`${sqlName(column.name)} IS NOT NULL`)
    .select([column.name])
    .limit(sampleRows);
  const sample = isColumnThere ? await there.toArrow({ signal }) : undefined;
  if (!sample || sample.numRows === 0)
    return estimated(rows * usualWidth, `${usualWidth} bytes per value, since no values exist`);
  return estimated(rows * sampledWidth(sample.batches), `${countText(sample.numRows)} existing values`);
}

/** Bytes of a variable-length value, without a sample. */
const usualWidth = 32;

/** Adds two figures; the sum is an estimate if one of the figures is. */
export function sum(a: Figure, b: Figure): Figure {
  const value = a.value + b.value;
  if (a.basis !== 'counted') return { value, basis: a.basis };
  return { value, basis: b.basis };
}

type Note = BackfillPlan['notes'][number];

export type NotesOf = {
  readonly source: Source;
  readonly spec: JobSpec;
  readonly choice: RunnerChoice;
  readonly key: KeyColumn | undefined;
  /** The reason why the runner "local" can't store checkpoints beside the table, if it can't. */
  readonly elsewhere: string | undefined;
  readonly request: ChoosingRequest;
};

export async function notesOf(of: NotesOf, signal: AbortSignal): Promise<Note[]> {
  const indexes = await indexesOf(of, signal);
  const isLocal = of.choice.runner === 'local';
  return [
    ...(isLocal ? await keyNotes(of, indexes, signal) : []),
    ...indexNotes(of, indexes),
    ...(await staleNotes(of, signal)),
    ...(await rayNotes(of, signal)),
    ...(isLocal && of.elsewhere !== undefined ? [info(`${of.elsewhere} ${inFolder}`)] : []),
    info(others(of.spec, isLocal)),
  ];
}

const info = (text: string): Note => ({ level: 'info', text });
const warning = (text: string): Note => ({ level: 'warning', text });

const inFolder = 'Computed rows are kept in the folder of the job, so only this machine can resume it.';
/** Describes concurrent writes: added rows are computed too, unless the request selects rows. */
const others = (spec: JobSpec, isLocal: boolean): string => {
  const changed = isLocal
    ? 'rows that they change are computed again, rows that they delete stay deleted'
    : 'rows that they change or compact are computed again';
  const added = isOpenEnded(spec)
    ? 'rows that they add are computed too'
    : 'rows that they add are left for the next run';
  return `Other writers may change the table meanwhile: ${changed}, ${added}.`;
};

async function indexesOf({ source }: NotesOf, signal: AbortSignal): Promise<IndexInfo[]> {
  try {
    return await source.table.listIndices({ signal });
  } catch (error) {
    if (isCatalogError(error, 'Unsupported')) return [];
    throw error;
  }
}

async function keyNotes(
  { key, source: { catalog } }: NotesOf,
  indexes: readonly IndexInfo[],
  signal: AbortSignal,
): Promise<Note[]> {
  if (key === undefined) return [];
  const theirs = indexes.find(
    ({ columns, type, name }) => type === 'BTREE' && columns[0] === key.name && name !== ownName(key.name),
  );
  const index = theirs
    ? `its index "${theirs.name}" is recreated at the end`
    : `a temporary index on it is created and dropped, which adds ${indexVersions} of the new versions`;
  const { CreateTableIndex } = await catalog.capabilities({ signal });
  const otherwise =
    theirs === undefined && CreateTableIndex === 'unknown'
      ? '. If the server does not create indexes, whole rows are rewritten'
      : '';
  return [info(`Rows are written back by "${key.name}" (${key.reason}); ${index}${otherwise}.`)];
}

function indexNotes({ spec }: NotesOf, indexes: readonly IndexInfo[]): Note[] {
  return indexes
    .filter(({ columns }) => columns.includes(spec.column))
    .map(({ name }) =>
      warning(`The index "${name}" does not cover the new values of "${spec.column}"; recreate it after the run.`),
    );
}

async function rayNotes({ choice, request, spec }: NotesOf, signal: AbortSignal): Promise<Note[]> {
  if (choice.runner !== 'ray' || !request.ray || spec.table.uri === '') return [];
  const { notesOfRay } = await loadLazy(() => import('#jobs/runners/ray/notesOfRay.ts'));
  return notesOfRay(request.ray, spec, signal);
}

async function staleNotes({ source, spec }: NotesOf, signal: AbortSignal): Promise<Note[]> {
  const schema = await source.table.schema({ signal });
  const made = schema.fields.find(({ name }) => name === spec.column)?.metadata.get(valuesKey);
  if (made === undefined || made === spec.function.hash) return [];
  const scope = spec.where === undefined ? ' Rows with a value keep it; set "where" to compute them again.' : '';
  return [warning(`The existing values were computed by another version of the function.${scope}`)];
}

const allRunners: Runners = { known: knownRunners, load: loadRunner };

/**
 * Plans a run by reading the table: rows and fragments are counted, bytes are counted from column widths or estimated
 * from a sample.
 * @param request must have a function
 * @throws JobError ColumnMissing, RunnerUnavailable; CatalogError
 */
export async function planBackfill(
  request: ChoosingRequest,
  signal: AbortSignal,
  runners = allRunners,
): Promise<BackfillPlan> {
  const choice = await chooseRunner(request, runners, signal);
  const spec = await specOf('bf-plan', request, signal);
  await using source = await openSource(request.table, spec, signal);
  // The function of a server is not checked, because only the server knows it.
  if (request.function.kind !== 'server')
    checkFits(await source.pinned.schema({ signal }), request.table.name, spec.column, request.function);
  await checkWhere(source, spec.where, signal);
  const scope = scopeOf(spec, source.isColumnThere);
  const { inputs } = spec.function;
  const [total, inScope, numFragments] = await Promise.all([
    source.pinned.countRows(undefined, { signal }),
    countScope({ table: source.pinned, scope }, spec.numFrags, signal),
    countScope({ table: source.pinned, scope: 'TRUE' }, undefined, signal).then(({ fragments }) => fragments.size),
  ]);
  const isDefault = spec.where === undefined;
  const done = await countDone(source, scope, signal);
  using place = await openBesideTable(request.table, spec.table);
  const reusing = { table: source.pinned, readVersion: source.readVersion, scope, inputs, openAt: source.openAt };
  const reusable = place.isBesideTable
    ? await Reusable.find(new Checkpoints(place.store, spec, source.column), reusing, signal)
    : undefined;
  const reused = Math.min(reusable?.rows ?? 0, inScope.rows);
  const schema = withColumn(await source.pinned.schema({ signal }), source);
  const key = choice.runner === 'local' ? await findKey(source.pinned, request.key, request.column, signal) : undefined;
  const touched = inScope.fragments.size;
  const exact =
    choice.runner === 'local-python' && source.isColumnThere ? await byPython(request, spec, signal) : undefined;
  const written = exact?.physicalRows ?? inScope.rows;
  const toCommit = exact ? exact.fragments.length + exact.checkpointedFragments : touched;
  const bytes = await bytesOf({ source, inputs, rows: inScope.rows, written, scope, schema, key, choice }, signal);
  return {
    column: spec.column,
    function: spec.function,
    runner: choice.runner,
    runnerReason: choice.reason,
    others: choice.others,
    options: optionsOf(request, choice),
    readVersion: source.readVersion,
    rows: {
      total: countedFigure(total),
      toCompute: countedFigure(exact ? exact.rows - exact.reusedRows : inScope.rows - reused),
      done: countedFigure(done),
      reused: countedFigure(exact?.reusedRows ?? reused),
    },
    fragments: {
      total: countedFigure(exact?.totalFragments ?? numFragments),
      toCompute: countedFigure(exact?.fragments.length ?? touched),
      done: countedFigure(isDefault && spec.numFrags === undefined ? numFragments - touched : 0),
    },
    bytes: { ...bytes, ...(typeof exact?.inputBytes === 'number' && { read: countedFigure(exact.inputBytes) }) },
    versions: versionsOf({
      spec,
      choice,
      source,
      fragments: toCommit,
      rows: inScope.rows,
      total,
      written: bytes.written,
    }),
    rowsPerSecond: undefined,
    seconds: undefined,
    notes: await notesOf(
      { source, spec, choice, key, elsewhere: place.isBesideTable ? undefined : place.reason, request },
      signal,
    ),
  };
}

type VersionsOf = Pick<NotesOf, 'spec' | 'choice' | 'source'> & {
  readonly fragments: number;
  /** Rows to compute, and all rows of the table. */
  readonly rows: number;
  readonly total: number;
  /** Bytes to write. */
  readonly written: Figure;
};

/**
 * Returns the maximum number of versions that a run creates: commits, and changes of the column, its metadata and the
 * index of the key.
 */
function versionsOf({ spec, choice, source, fragments, rows, total, written }: VersionsOf): Figure | undefined {
  if (choice.runner === 'rest') return undefined;
  const groups = fragments === 0 ? 0 : Math.ceil(fragments / fragmentsPerCommit(spec, fragments));
  const isStored = source.isColumnThere && storedHash(source.column) === spec.function.hash;
  const named = (source.isColumnThere ? 0 : 1) + (isStored ? 0 : 1) + (isMarked(spec, source, rows, total) ? 1 : 0);
  if (choice.runner !== 'local' || groups === 0) return countedFigure(groups + named);
  // The runner "local" also commits pending rows when they reach a number of bytes, and creates and drops an index of
  // the key.
  const byBytes = Math.floor((written.value + rows * pendingBytesPerRow) / mostBytesPerCommit);
  const isExact = fixedWidth(new Schema([source.column])) !== undefined;
  return { value: groups + byBytes + indexVersions + named, basis: isExact ? 'counted' : written.basis };
}

/** Versions for creating and dropping an index of the key. */
const indexVersions = 2;

/** Returns the hash of the function that is stored on a column, `undefined` if there is none or it is damaged. */
function storedHash(column: Field): string | undefined {
  try {
    return readStored(column)?.function.hash;
  } catch {
    return undefined;
  }
}

/** Whether the run may record on the column that all of its values are of the function. */
function isMarked(spec: JobSpec, { column, isColumnThere }: Source, rows: number, total: number): boolean {
  if (spec.numFrags !== undefined || !madeAll(spec, column)) return false;
  const complete = isColumnThere ? readCompleteness(column) : undefined;
  const isRecorded = column.metadata.get(valuesKey) === spec.function.hash && complete?.rows === total;
  // If there are no rows to compute, the record does not change.
  return !(rows === 0 && isRecorded && complete?.empty === 0);
}

/** Counts the rows that have a value and keep it. */
async function countDone(
  { pinned, isColumnThere, column }: Source,
  scope: string,
  signal: AbortSignal,
): Promise<number> {
  if (!isColumnThere) return 0;
  const filled = `${sqlName(column.name)} IS NOT NULL`;
  const counts = [filled, `(${filled}) AND (${scope})`].map((where) => pinned.countRows(where, { signal }));
  const [all = 0, inScope = 0] = await Promise.all(counts);
  return all - inScope;
}

/** Lets the Python driver create the plan, because the driver can read the files of fragments. */
function byPython({ python }: ChoosingRequest, spec: JobSpec, signal: AbortSignal): Promise<DriverPlan> {
  return withTempFolder('plan', async (folder) => {
    const { planWithPython } = await loadLazy(() => import('#jobs/runners/pythonRunner.ts'));
    return planWithPython(spec, { python, folder, log: () => undefined, signal });
  });
}

const withColumn = (schema: Schema, { isColumnThere, column }: Source): Schema =>
  isColumnThere ? schema : new Schema([...schema.fields, column]);

type BytesOf = {
  readonly source: Source;
  readonly inputs: readonly string[];
  readonly rows: number;
  /** Number of values to write. Column files also contain values of deleted rows and of rows out of scope. */
  readonly written: number;
  readonly scope: string;
  readonly schema: Schema;
  readonly key: KeyColumn | undefined;
  readonly choice: RunnerChoice;
};

async function bytesOf(
  { source, inputs, rows, written, scope, schema, key, choice }: BytesOf,
  signal: AbortSignal,
): Promise<BackfillPlan['bytes']> {
  const fieldsOf = (names: readonly string[]): Field[] => schema.fields.filter(({ name }) => names.includes(name));
  const keys = key === undefined ? [] : [key.name];
  const read = await bytesOfRows(source.pinned, fieldsOf([...inputs, ...keys]), rows, scope, signal);
  const keyBytes = await bytesOfRows(source.pinned, fieldsOf(keys), rows, scope, signal);
  const column = schema.fields.find(({ name }) => name === source.column.name) ?? source.column;
  const values = await bytesOfValues(source, column, written, signal);
  return { read, written: withKeys(values, keyBytes), rewritten: await rewritten(source, rows, choice, signal) };
}

/** Adds the keys, which the runner "local" writes beside the values. */
function withKeys(values: Figure, keys: Figure): Figure {
  const { value, basis } = sum(values, keys);
  if (values.basis === 'counted' || keys.value === 0) return { value, basis };
  return { value, basis: { estimatedFrom: `${values.basis.estimatedFrom}, and their keys` } };
}

/** Returns the bytes of rewritten rows. Only a merge on a server without key indexes rewrites whole rows. */
async function rewritten(
  { catalog, pinned }: Source,
  rows: number,
  { runner }: RunnerChoice,
  signal: AbortSignal,
): Promise<BackfillPlan['bytes']['rewritten']> {
  if (runner !== 'local' || catalog.implementation === 'dir') return countedFigure(0);
  // A plan does not try to create an index. So it knows that the server can't create one only if the server has refused
  // this before or can't list indexes. If this is unknown and the user has no index of the key, `keyNotes` adds a note.
  const can = await catalog.capabilities({ probe: ['ListTableIndices'], signal });
  if (can.CreateTableIndex !== 'no' && can.ListTableIndices !== 'no') return countedFigure(0);
  const { totalBytes, numRows } = await pinned.stats({ signal });
  return estimated((totalBytes / Math.max(numRows, 1)) * rows, 'the bytes of all rows, as the server counts them');
}

const optionNames = [
  'where',
  'concurrency',
  'taskSize',
  'checkpointSize',
  'commitGranularity',
  'numFrags',
  'readVersion',
  'onError',
  'key',
  'python',
] as const;

/** Returns the options without Ray settings, which may hold a token. */
function optionsOf(request: ChoosingRequest, { runner }: RunnerChoice): BackfillPlan['options'] {
  const given = optionNames.filter((name) => request[name] !== undefined).map((name) => [name, request[name]] as const);
  return { runner, ...Object.fromEntries(given) };
}

export function withTrial(plan: BackfillPlan, trial: BackfillTrial): BackfillPlan {
  if (trial.rows === 0 || trial.seconds <= 0) return plan;
  const rate = trial.rows / trial.seconds;
  const basis = `the trial of ${trial.rows} rows`;
  const rowsPerSecond = { value: rate, basis: { estimatedFrom: basis } };
  return { ...plan, rowsPerSecond, seconds: { value: plan.rows.toCompute.value / rate, basis: rowsPerSecond.basis } };
}
