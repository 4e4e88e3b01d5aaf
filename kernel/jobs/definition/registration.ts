import { userInfo } from 'node:os';
import type { Field, Schema } from '#arrow';
import { typeText } from '#shared/arrow/arrowTypes.ts';
import { CatalogError, isCatalogError } from '#shared/errors.ts';
import type { ComputedColumn, ComputedFunction } from '#shared/jobs/computedFunction.ts';
import { JobError } from '#shared/jobs/jobErrors.ts';
import { namesText } from '#shared/format/markup.ts';
import { sqlName } from '#catalog/sqlText.ts';
import type { Table } from '#catalog/table/table.ts';
import { engineFunction } from './engineFunction.ts';
import { decodeOutput } from './outputType.ts';
import {
  completeKey,
  functionKey,
  metadataOf,
  readCompleteness,
  readStored,
  valuesKey,
  type StoredFunction,
} from './storedFunction.ts';

export type RegisterOptions = {
  /** Default: the name of the account. */
  readonly author?: string | undefined;
  readonly signal: AbortSignal;
};

/**
 * Stores a function on a column, so that every user of the table can fill it. A missing column is added with nulls. An
 * existing function is replaced, and the values of the column stay.
 * @throws JobError ColumnMissing if an input column is missing, FunctionInvalid if the column has another type or the
 * function is too large; CatalogError Unsupported (0) if the server can't store column metadata
 */
export async function registerFunction(
  table: Table,
  column: string,
  fn: ComputedFunction,
  { author = accountName(), signal }: RegisterOptions,
): Promise<void> {
  const schema = await table.schema({ signal });
  checkFits(schema, table.name, column, fn);
  const field = schema.fields.find(({ name }) => name === column);
  const isNew = field === undefined;
  const metadata = {
    ...metadataOf({ function: fn, author, registeredAt: new Date().toISOString() }),
    ...(field && (await madeBefore(table, field, fn, signal))),
  };
  if (isNew) await addColumn(table, column, fn, signal);
  try {
    await table.updateFieldMetadata([{ path: column, metadata }], { signal });
  } catch (error) {
    if (!isCatalogError(error, 'Unsupported')) throw error;
    // The new column is dropped again, because without its function it would only have nulls without an explanation.
    if (isNew) await table.dropColumns([column], { signal });
    throw new CatalogError(
      'Unsupported',
      `The server can't store a function on the column "${column}" of "${table.name}".`,
      'Pass the function with each backfill instead.',
      { cause: error },
    );
  }
}

/**
 * Returns metadata that names the previous function as the one that computed the existing values, so that they count as
 * stale. Returns no metadata if the column has no values, or if a run over all rows has already recorded the function.
 */
async function madeBefore(
  table: Table,
  field: Field,
  fn: ComputedFunction,
  signal: AbortSignal,
): Promise<Record<string, string>> {
  const before = whole(field)?.function.hash;
  if (before === undefined || before === fn.hash || field.metadata.has(valuesKey)) return {};
  const filled = await table.countRows(`${sqlName(field.name)} IS NOT NULL`, { signal });
  return filled > 0 ? { [valuesKey]: before } : {};
}

/**
 * Checks that a function can compute a column.
 * @throws JobError ColumnMissing, FunctionInvalid, RequestInvalid if a new column can't have that name
 */
export function checkFits(schema: Schema, table: string, column: string, fn: ComputedFunction): void {
  const names = schema.fields.map(({ name }) => name);
  const missing = fn.inputs.find((name) => !names.includes(name));
  if (missing !== undefined)
    throw new JobError(
      'ColumnMissing',
      `The function "${fn.name}" reads the column "${missing}", but table "${table}" has no such column.`,
      `It has ${namesText(names)}.`,
    );
  if (fn.inputs.includes(column))
    throw new JobError(
      'FunctionInvalid',
      `The function "${fn.name}" reads the column "${column}", which it computes.`,
      'Compute another column.',
    );
  const field = schema.fields.find(({ name }) => name === column);
  if (!field) checkNewName(column);
  const gives = typeText(decodeOutput(fn.output).type);
  if (!field || typeText(field.type) === gives) return;
  throw new JobError(
    'FunctionInvalid',
    `The column "${column}" is ${typeText(field.type)}, but the function "${fn.name}" returns ${gives}.`,
    'Return the type of the column, or compute another column.',
  );
}

/** Refuses names that catalogs refuse, or that could not be addressed later. */
function checkNewName(column: string): void {
  if (column.trim() === '') {
    const hint = 'Name the column: backfill TABLE COLUMN.';
    throw new JobError('RequestInvalid', 'The name of the column to compute is empty.', hint);
  }
  if (!column.includes('.')) return;
  throw new JobError(
    'RequestInvalid',
    `Can't add column "${column}": its name has a dot.`,
    `Use a name without dots, for example "${column.replaceAll('.', '_')}".`,
  );
}

async function addColumn(table: Table, name: string, fn: ComputedFunction, signal: AbortSignal): Promise<void> {
  const { type } = decodeOutput(fn.output);
  await table.addColumns([{ name, dataType: type }], { signal });
}

/**
 * Returns the function that is stored on a column, undefined if there is none.
 * @throws JobError ColumnMissing, FunctionInvalid if it is damaged
 */
export async function storedFunction(
  table: Table,
  column: string,
  signal: AbortSignal,
): Promise<StoredFunction | undefined> {
  return readStored(await columnOf(table, column, signal));
}

/**
 * Lists the computed columns, including columns that the engine computes, with their number of filled rows. Columns
 * with a damaged function are left out.
 */
export async function computedColumns(table: Table, signal: AbortSignal): Promise<readonly ComputedColumn[]> {
  const schema = await table.schema({ signal });
  const found = schema.fields.flatMap((field) => {
    const stored = whole(field);
    return stored ? [{ field, stored }] : [];
  });
  if (found.length === 0) return [];
  const rows = await table.countRows(undefined, { signal });
  return Promise.all(found.map(async ({ field, stored }) => described(table, field, stored, rows, signal)));
}

/**
 * Records that a function has computed all values, and how many rows have no value. Call it after a run over all rows.
 * Writes nothing if the column already has this record.
 */
export async function markValues(
  table: Table,
  { name, metadata: known }: Pick<Field, 'name' | 'metadata'>,
  hash: string,
  signal: AbortSignal,
): Promise<void> {
  const [rows, empty] = await Promise.all([
    table.countRows(undefined, { signal }),
    table.countRows(`${sqlName(name)} IS NULL`, { signal }),
  ]);
  const metadata = { [valuesKey]: hash, [completeKey]: JSON.stringify({ rows, empty }) };
  if (Object.entries(metadata).every(([key, value]) => known.get(key) === value)) return;
  await table.updateFieldMetadata([{ path: name, metadata }], { signal });
}

function whole(field: Field): StoredFunction | undefined {
  try {
    return field.metadata.has(functionKey) ? readStored(field) : engineFunction(field);
  } catch {
    return undefined;
  }
}

async function described(
  table: Table,
  field: Field,
  { function: fn, author, registeredAt }: StoredFunction,
  rows: number,
  signal: AbortSignal,
): Promise<ComputedColumn> {
  const filled = await table.countRows(`${sqlName(field.name)} IS NOT NULL`, { signal });
  const valuesHash = field.metadata.get(valuesKey);
  return {
    column: field.name,
    type: typeText(field.type),
    function: fn,
    keptBy: field.metadata.has(functionKey) ? 'table' : 'engine',
    author,
    registeredAt,
    rows,
    filled,
    valuesHash,
    ...(valuesHash !== undefined && { complete: readCompleteness(field) }),
    // Without a recorded hash it is not known whether values are stale, because a run over some rows keeps the values
    // of the other rows.
    isStale: filled > 0 && valuesHash !== undefined && valuesHash !== fn.hash,
  };
}

/** Returns a column with its metadata. @throws JobError ColumnMissing */
export async function columnOf(table: Table, column: string, signal: AbortSignal): Promise<Field> {
  const { fields } = await table.schema({ signal });
  const field = fields.find(({ name }) => name === column);
  if (field) return field;
  const names = namesText(fields.map(({ name }) => name));
  throw new JobError('ColumnMissing', `The table "${table.name}" has no column "${column}".`, `It has ${names}.`);
}

/** Accounts may lack a name, for instance in containers. */
function accountName(): string {
  try {
    return userInfo().username;
  } catch {
    return '';
  }
}
