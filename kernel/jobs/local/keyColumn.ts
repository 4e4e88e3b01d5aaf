import { DataType, type Field, type Schema } from '#arrow';
import { typeText } from '#shared/arrowTypes.ts';
import { JobError } from '#shared/jobs/jobErrors.ts';
import type { Table } from '#client/table.ts';
import { uniquenessOf, type Uniqueness } from './uniqueValues.ts';

/** The column by which rows are written back, and how it was found. */
export type KeyColumn = { readonly name: string; readonly reason: string };

const primaryKey = 'lance-schema:unenforced-primary-key';
const obvious = /^(id|key|pk|uuid|guid|row_?id|_id|.+_id|.+_uuid|.+_key)$/i;

/**
 * The column whose values name one row each: the one that is asked for, else the only one that looks like it and is it.
 * @param table stays at the version that is computed
 * @param isNotKey the column that is computed
 * @throws JobError ColumnMissing, KeyMissing, KeyNotUnique
 */
export async function findKey(
  table: Table,
  asked: string | undefined,
  isNotKey: string,
  signal: AbortSignal,
): Promise<KeyColumn> {
  const schema = await table.schema({ signal });
  if (asked !== undefined) return checkedKey(table, schema, asked, signal);
  const fit = schema.fields.filter((field) => field.name !== isNotKey && isKeyType(field));
  const primary = fit.filter((field) => field.metadata.get(primaryKey) === 'true');
  const candidates = primary.length > 0 ? primary : fit.filter(({ name }) => obvious.test(name));
  const unique: string[] = [];
  for (const { name } of candidates.slice(0, mostCandidates)) {
    if (isUnique(await uniquenessOf(table, name, signal))) unique.push(name);
  }
  // `id` before `order_id`: of two that are unique, the plainest name is the row's own.
  const name = unique.length > 1 ? unique.find((each) => /^_?id$/i.test(each)) : unique[0];
  if (name === undefined) throw noKey(table, unique);
  return { name, reason: `each row has a value of its own in "${name}"` };
}

/** Looking through a column reads it whole. */
const mostCandidates = 5;

async function checkedKey(table: Table, schema: Schema, name: string, signal: AbortSignal): Promise<KeyColumn> {
  const field = schema.fields.find((each) => each.name === name);
  if (!field) {
    const there = schema.fields.filter(isKeyType).map((each) => `"${each.name}"`);
    throw new JobError(
      'ColumnMissing',
      `Table "${table.name}" has no column "${name}" to be the key.`,
      there.length > 0 ? `Of its columns ${there.join(', ')} might be.` : hint,
    );
  }
  if (!isKeyType(field)) {
    const what = `The column "${name}" is of type ${typeText(field.type)}, which can't name rows here.`;
    throw new JobError('KeyMissing', what, `Name one of whole numbers or texts. ${hint}`);
  }
  const found = await uniquenessOf(table, name, signal);
  if (!isUnique(found)) throw notUnique(table.name, name, found);
  return { name, reason: 'it was named, and each row has a value of its own' };
}

const isKeyType = ({ type }: Field): boolean =>
  DataType.isInt(type) || DataType.isUtf8(type) || DataType.isLargeUtf8(type);

const isUnique = ({ nulls, example }: Uniqueness): boolean => nulls === 0 && example === undefined;

const hint = 'The runner "local-python" needs no key.';

/** Why a column can't be the key any more, or never could. */
export function notUnique(table: string, column: string, { nulls, example }: Uniqueness): JobError {
  const why =
    nulls > 0
      ? `${nulls === 1 ? 'one row has' : `${nulls} rows have`} none`
      : `more than one row has ${JSON.stringify(example)}`;
  return new JobError(
    'KeyNotUnique',
    `The column "${column}" of table "${table}" can't be the key: ${why}.`,
    `Name another one by the option "key". ${hint}`,
  );
}

function noKey({ name }: Table, unique: readonly string[]): JobError {
  const what =
    unique.length > 1
      ? `Several columns of table "${name}" might name its rows: ${unique.map((each) => `"${each}"`).join(', ')}.`
      : `Table "${name}" has no column that obviously names its rows, by which the runner "local" would write them back.`;
  return new JobError(
    'KeyMissing',
    what,
    `Name one by the option "key", of which each row has a value of its own. ${hint}`,
  );
}
