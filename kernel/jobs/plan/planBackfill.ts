import { Schema, type Field } from '#arrow';
import { sqlName } from '#client/sqlName.ts';
import type { BackfillPlan, BackfillTrial, Figure } from '#shared/jobs/jobPlan.ts';
import { Checkpoints } from '#jobs/local/checkpoints/checkpoints.ts';
import { openBesideTable } from '#jobs/local/checkpoints/openStore.ts';
import { findKey, type KeyColumn } from '#jobs/local/keyColumn.ts';
import { Reusable } from '#jobs/local/reusable.ts';
import { checkFits } from '#jobs/definition/registration.ts';
import { scopeOf } from '#jobs/local/scope.ts';
import { countScope } from '#jobs/local/scopeCount.ts';
import { openSource, type Source } from '#jobs/local/source.ts';
import { knownRunners, loadRunner } from '#jobs/runners/all.ts';
import type { DriverPlan } from '#jobs/driver/driverResults.ts';
import type { JobSpec } from '#jobs/jobSpec.ts';
import { specOf } from '#jobs/specOf.ts';
import { loadPart } from '#shared/loadPart.ts';
import { checkWhere } from './checkWhere.ts';
import { chooseRunner, type ChoosingRequest, type RunnerChoice, type Runners } from './chooseRunner.ts';
import { inPlanFolder } from './planFolder.ts';
import { bytesOfRows, bytesOfValues, counted, estimated, sum } from './figures.ts';
import { notesOf } from './notes.ts';

const allRunners: Runners = { known: knownRunners, load: loadRunner };

/**
 * What a run would do, from reading the table alone: rows and fragments are counted, bytes follow from widths of columns or
 * are estimated from some rows.
 * @param request with its function
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
  // What a server computes is known to the server alone.
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
      total: counted(total),
      toCompute: counted(exact ? exact.rows - exact.reusedRows : inScope.rows - reused),
      done: counted(done),
      reused: counted(exact?.reusedRows ?? reused),
    },
    fragments: {
      total: counted(exact?.totalFragments ?? numFragments),
      toCompute: counted(exact?.fragments.length ?? touched),
      done: counted(isDefault && spec.numFrags === undefined ? numFragments - touched : 0),
    },
    bytes: { ...bytes, ...(typeof exact?.inputBytes === 'number' && { read: counted(exact.inputBytes) }) },
    rowsPerSecond: undefined,
    seconds: undefined,
    notes: await notesOf(
      { source, spec, choice, key, elsewhere: place.isBesideTable ? undefined : place.reason, request },
      signal,
    ),
  };
}

/** Rows that have a value and keep it. */
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

/** What the driver in Python would do, which knows the files of fragments. */
function byPython({ python }: ChoosingRequest, spec: JobSpec, signal: AbortSignal): Promise<DriverPlan> {
  return inPlanFolder(async (folder) => {
    const { planWithPython } = await loadPart(() => import('#jobs/runners/localPython.ts'));
    return planWithPython(spec, { python, folder, log: () => undefined, signal });
  });
}

const withColumn = (schema: Schema, { isColumnThere, column }: Source): Schema =>
  isColumnThere ? schema : new Schema([...schema.fields, column]);

type BytesOf = {
  readonly source: Source;
  readonly inputs: readonly string[];
  readonly rows: number;
  /** Rows that get a value in a file: by column files deleted ones and those out of scope too. */
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

/** What is written by a key has the keys beside the values, and says so where it is an estimate. */
function withKeys(values: Figure, keys: Figure): Figure {
  const { value, basis } = sum(values, keys);
  if (values.basis === 'counted' || keys.value === 0) return { value, basis };
  return { value, basis: { estimatedFrom: `${values.basis.estimatedFrom}, and their keys` } };
}

/** By an index of the key, or as files of columns, nothing but the column is written; without one whole rows are. */
async function rewritten(
  { catalog, pinned }: Source,
  rows: number,
  { runner }: RunnerChoice,
  signal: AbortSignal,
): Promise<BackfillPlan['bytes']['rewritten']> {
  if (runner !== 'local' || catalog.implementation === 'dir') return counted(0);
  const can = await catalog.capabilities({ probe: ['CreateTableIndex'], signal });
  if (can.CreateTableIndex !== 'no') return counted(0);
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

/** As they were given, with the runner that was picked; where a Ray is may hold a token. */
function optionsOf(request: ChoosingRequest, { runner }: RunnerChoice): BackfillPlan['options'] {
  const given = optionNames.filter((name) => request[name] !== undefined).map((name) => [name, request[name]] as const);
  return { runner, ...Object.fromEntries(given) };
}

/** A plan with the rate that a trial has shown. */
export function withTrial(plan: BackfillPlan, trial: BackfillTrial): BackfillPlan {
  if (trial.rows === 0 || trial.seconds <= 0) return plan;
  const rate = trial.rows / trial.seconds;
  const basis = `the trial of ${trial.rows} rows`;
  const rowsPerSecond = { value: rate, basis: { estimatedFrom: basis } };
  return { ...plan, rowsPerSecond, seconds: { value: plan.rows.toCompute.value / rate, basis: rowsPerSecond.basis } };
}
