import { type DataType } from '#arrow';
import {
  areComputed,
  type CheckedColumnChange,
  checkComputedColumns,
  checkFieldMetadata,
  columnChanges,
  newColumns,
} from '#catalog/arguments/columnArguments.ts';
import type { CallOptions } from '#catalog/arguments/options.ts';
import { checkText, checkTexts, describeType } from '#catalog/arguments/tableArguments.ts';
import { type JsonArrowType, jsonType } from '#catalog/arrow/jsonArrow.ts';
import { nullExpression } from '#catalog/arrow/nullColumns.ts';
import type { BackfillColumnOptions } from '#catalog/jobs.ts';
import type { ColumnChange, ComputedColumns, FieldMetadataUpdate, NewColumns } from '#catalog/table/table.ts';
import type { WriteResult } from '#catalog/table/writeResults.ts';
import { typeText } from '#shared/arrow/arrowTypes.ts';
import { CatalogError, isCatalogError } from '#shared/errors.ts';
import { definedEntries, isRecord } from '#shared/records.ts';
import type { Reply } from './reply.ts';
import { about, ask, checkWritable, onBranch, pinned, type RestTarget } from './target.ts';

const written = (reply: Reply): WriteResult => {
  const version = reply.maybeCount('version');
  return version === undefined ? {} : { version };
};

/** "AlterTableAddColumns" */
export function addColumns(
  target: RestTarget,
  columns: NewColumns | ComputedColumns,
  options: CallOptions,
): Promise<WriteResult> {
  return about(target, 'AlterTableAddColumns', () => {
    checkWritable(target);
    const added = areComputed(columns)
      ? checkComputedColumns(columns).map(({ name, valueSql }) => ({ name, computed: valueSql }))
      : newColumns(columns).map(({ name, expression, dataType }) => ({
          name,
          expression: dataType === undefined ? expression : nullExpression(dataType),
        }));
    const json = { new_columns: added, ...onBranch(target) };
    return ask(target, 'AlterTableAddColumns', { json }, options, written);
  });
}

/**
 * "AlterTableAlterColumns". Throws Unsupported for a type that the contract's JSON can't express in full, such as a
 * timestamp with a time zone, because a server would read it as another type.
 */
export function alterColumns(
  target: RestTarget,
  changes: readonly ColumnChange[],
  options: CallOptions,
): Promise<WriteResult> {
  return about(target, 'AlterTableAlterColumns', () => {
    checkWritable(target);
    return alter(target, columnChanges(changes), options);
  });
}

async function alter(
  target: RestTarget,
  changes: readonly CheckedColumnChange[],
  options: CallOptions,
): Promise<WriteResult> {
  const types = changes.map(({ dataType }) => dataType && sayableType(dataType));
  const send = (form: (type: JsonArrowType) => unknown): Promise<WriteResult> => {
    const alterations = changes.map(({ path, rename, nullable }, index) => {
      const type = types[index];
      return { path, ...definedEntries({ rename, nullable, data_type: type && form(type) }) };
    });
    return ask(target, 'AlterTableAlterColumns', { json: { alterations, ...onBranch(target) } }, options, written);
  };
  try {
    return await send((type) => type);
  } catch (error) {
    // The specification defines a type as an object; some servers accept only its name and refuse an object.
    const isName = types.some((type) => type) && types.every((type) => !type || Object.keys(type).length === 1);
    if (!isName || !(isCatalogError(error, 'InvalidInput') || isCatalogError(error, 'Internal'))) throw error;
    return send(({ type }) => type).catch(() => {
      throw error;
    });
  }
}

function sayableType(type: DataType): JsonArrowType {
  const json = jsonType(type);
  if (isSayable(json)) return json;
  throw new CatalogError(
    'Unsupported',
    `Can't send the type ${typeText(type)} to a server: the JSON form of the contract can't express all of it.`,
    'Add a new column with addColumns and a CAST, or connect to the directory of the table and change the column there.',
  );
}

/**
 * Whether the specification's own fields express the type completely. A timestamp is complete only if it is in
 * microseconds without a time zone.
 */
function isSayable(json: unknown): boolean {
  if (!isRecord(json)) return false;
  const { type, unit, timezone, keys, keysSorted, mode, fields } = json;
  const hasMore = timezone !== undefined || keys !== undefined || keysSorted !== undefined || mode !== undefined;
  if (hasMore || (unit !== undefined && !(unit === 'us' && (type === 'timestamp' || type === 'duration'))))
    return false;
  return !Array.isArray(fields) || fields.every((field) => isRecord(field) && isSayable(field['type']));
}

/** "AlterTableDropColumns" */
export function dropColumns(target: RestTarget, names: readonly string[], options: CallOptions): Promise<WriteResult> {
  return about(target, 'AlterTableDropColumns', () => {
    checkWritable(target);
    const json = { columns: checkTexts('dropColumns', 'column', names), ...onBranch(target) };
    return ask(target, 'AlterTableDropColumns', { json }, options, written);
  });
}

/** "UpdateFieldMetadata" */
export function updateFieldMetadata(
  target: RestTarget,
  updates: readonly FieldMetadataUpdate[],
  options: CallOptions,
): Promise<WriteResult> {
  return about(target, 'UpdateFieldMetadata', () => {
    checkWritable(target);
    checkFieldMetadata(updates);
    const changes = updates.map(({ path, metadata, replace }) => ({ path, metadata, ...definedEntries({ replace }) }));
    return ask(target, 'UpdateFieldMetadata', { json: { updates: changes, ...onBranch(target) } }, options, written);
  });
}

/**
 * "UpdateTableSchemaMetadata", which replaces all entries; some servers add entries instead. So this function sends all
 * entries to keep, and throws if a removed entry still exists afterwards.
 */
export async function updateSchemaMetadata(
  target: RestTarget,
  metadata: Readonly<Record<string, string | null>>,
  options: CallOptions,
): Promise<Record<string, string>> {
  checkWritable(target, 'UpdateTableSchemaMetadata');
  const changes = Object.entries(metadata);
  await about(target, 'UpdateTableSchemaMetadata', () => {
    const wrong = changes.find(([, value]) => value !== null && typeof value !== 'string');
    if (!wrong) return;
    const what = `The metadata "${wrong[0]}" is ${describeType(wrong[1])}, not a string.`;
    throw new CatalogError('InvalidInput', what, 'Pass a string, or null to remove it.');
  });
  const all = new Map(Object.entries(await schemaMetadata(target, options)));
  for (const [name, value] of changes) {
    if (value === null) all.delete(name);
    else all.set(name, value);
  }
  const request = { json: Object.fromEntries(all), query: onBranch(target) };
  const now = await ask(target, 'UpdateTableSchemaMetadata', request, options, (reply) => reply.textMap());
  const kept = changes.find(([name, value]) => value === null && Object.hasOwn(now, name));
  if (!kept) return now;
  return about(target, 'UpdateTableSchemaMetadata', async () => {
    const what = `${target.wire.name} can't remove metadata: "${kept[0]}" still exists.`;
    throw new CatalogError('Unsupported', what, 'Set it to an empty string.');
  });
}

const schemaMetadata = (target: RestTarget, options: CallOptions): Promise<Record<string, string>> =>
  ask(
    target,
    'DescribeTable',
    { query: { load_detailed_metadata: true }, json: pinned(target) },
    options,
    (reply) => reply.maybeObject('schema')?.maybeObject('metadata')?.textMap() ?? {},
  );

/** "AlterTableBackfillColumns" */
export function backfillColumn(
  target: RestTarget,
  column: string,
  options: BackfillColumnOptions,
): Promise<{ jobId: string }> {
  return about(target, 'AlterTableBackfillColumns', () => {
    checkWritable(target);
    const json = { column: checkText('backfillColumn', 'column', column), ...onBranch(target), ...sizes(options) };
    return ask(target, 'AlterTableBackfillColumns', { json }, options, jobOf);
  });
}

const jobOf = (reply: Reply): { jobId: string } => ({ jobId: reply.text('job_id') });

const sizes = (options: BackfillColumnOptions): Record<string, unknown> =>
  definedEntries({
    where: options.where,
    concurrency: options.concurrency,
    intra_applier_concurrency: options.intraApplierConcurrency,
    min_checkpoint_size: options.minCheckpointSize,
    max_checkpoint_size: options.maxCheckpointSize,
    batch_checkpoint_flush_interval_seconds: options.batchCheckpointFlushIntervalSeconds,
    read_version: options.readVersion,
    task_size: options.taskSize,
    num_frags: options.numFrags,
    checkpoint_size: options.checkpointSize,
    commit_granularity: options.commitGranularity,
    cluster: options.cluster,
    manifest: options.manifest,
  });
