import { type Data, type Field, type RecordBatch, Vector } from '#arrow';
import { isCatalogError, messageOf } from '#shared/errors.ts';
import { typeText } from '#shared/arrow/arrowTypes.ts';
import { nullData } from '#shared/arrow/nullData.ts';
import type { OnError } from '#shared/jobs/computedFunction.ts';
import { JobError } from '#shared/jobs/jobErrors.ts';
import type { RowError } from '#shared/jobs/jobEvents.ts';
import { hashesOf, rowOffset, rowStates, type ComputedRows, type ReadRows } from './rows.ts';

/** `errors`: text or null for each row. */
export type ComputedBatch = { readonly rows: ComputedRows; readonly errors: readonly (string | null)[] };

/** `inputs` may be slices of a batch. */
export type Compute = (rows: ReadRows, signal: AbortSignal) => Promise<ComputedBatch>;

/** Returns a value and an error per row, in order. */
type AskWorkers = (inputs: RecordBatch) => Promise<RecordBatch>;

export type Computing = {
  readonly name: string;
  readonly column: Field;
  readonly inputs: readonly string[];
  readonly onError: OnError;
};

/** Computes rows with a function in worker processes. @throws JobError FunctionFailed if `onError` requires it */
export const computeByWorkers =
  (computing: Computing, ask: AskWorkers): Compute =>
  async (rows) => {
    const answer = await ask(rows.inputs);
    const [value, error] = answer.data.children as [Data, Data];
    const errors = textsOf(error);
    return answered(computing, rows, value, errors);
  };

/** Takes values that the engine computed while reading. @throws JobError FunctionInvalid if they have another type */
export const computeBySql =
  (computing: Computing): Compute =>
  async (rows) =>
    answered(computing, rows, rows.value!, noRowErrors(rows.addresses.length));

/** Returns the result of a row for which the expression fails: null, and the reason. */
export const failedRow = (computing: Computing, rows: ReadRows, error: unknown): ComputedBatch =>
  answered(computing, rows, nullData(computing.column.type, 1), [shortReason(error)]);

function answered(
  computing: Computing,
  rows: ReadRows,
  value: Data,
  errors: readonly (string | null)[],
): ComputedBatch {
  const { column, onError, inputs } = computing;
  checkType(computing, value);
  const states = new Uint8Array(rows.addresses.length);
  const isFatal = onError.mode === 'fail' || onError.mode === 'retry';
  errors.forEach((error, row) => {
    if (error === null) return;
    if (isFatal && error !== '') throw thrown(computing, rows, row, error);
    states[row] = onError.mode === 'skip' ? rowStates.skipped : rowStates.threw;
  });
  const { fragment, addresses, key } = rows;
  const hashes = hashesOf(rows.inputs, inputs);
  return { rows: { fragment, addresses, hashes, key, value: typed(value, column), states }, errors };
}

/** Gives values the type of the column, because a column that has only nulls may arrive with the null type. */
const typed = (value: Data, { type }: Field): Data =>
  typeText(value.type) === typeText(type) ? value : nullData(type, value.length);

function checkType({ name, column }: Computing, value: Data): void {
  if (typeText(value.type) === typeText(column.type) || value.nullCount === value.length) return;
  throw new JobError(
    'FunctionInvalid',
    `The function "${name}" returns ${typeText(value.type)}, but the column "${column.name}" is of type ${typeText(column.type)}.`,
    'Return the type of the column, or create a column of another type.',
  );
}

function thrown({ name, inputs }: Computing, rows: ReadRows, row: number, error: string): JobError {
  const sample = rowError(rows, inputs, row, error);
  const given = Object.entries(sample.inputs).map(([input, text]) => `${input} = ${text}`);
  const where = `row ${sample.row} of fragment ${sample.fragment}${given.length > 0 ? ` (${given.join(', ')})` : ''}`;
  return new JobError(
    'FunctionFailed',
    `The function "${name}" failed for ${where}: ${error}`,
    'Fix the function, or set onError to "null" or "skip". Finished rows are kept.',
  );
}

const shortest = 120;

/** Returns the sample of a failed row, with shortened inputs. */
export function rowError(rows: ReadRows, inputs: readonly string[], row: number, message: string): RowError {
  const shown = inputs.map((name) => {
    const text = inputText(rows.inputs.getChild(name)?.get(row));
    return [name, text.length > shortest ? `${text.slice(0, shortest)}…` : text] as const;
  });
  const address = rows.addresses[row]!;
  return { fragment: rows.fragment, row: rowOffset(address), message, inputs: Object.fromEntries(shown) };
}

const inputText = (value: unknown): string =>
  typeof value === 'string' ? JSON.stringify(value.slice(0, shortest * 2)) : String(value);

export const noRowErrors = (rows: number): null[] => Array.from({ length: rows }, () => null);

const textsOf = (data: Data): (string | null)[] => {
  if (data.nullCount === data.length) return noRowErrors(data.length);
  return Array.from(new Vector([data]), (text: unknown) => (typeof text === 'string' ? text : null));
};

const shortReason = (error: unknown): string =>
  (isCatalogError(error) ? error.message : messageOf(error)).slice(0, 2000);
