import { Field, RecordBatchReader, Schema, tableToIPC, Table, type DataType } from '#arrow';
import { JobError } from '#shared/jobs/jobErrors.ts';

// What a function gives, as text that crosses pipes and stays in metadata: an Arrow IPC stream without a batch. A word
// such as `int32` would do for the common types, and not for a struct whose fields have metadata.

/** The type of a column as `ComputedFunction.output` has it: base64 of an IPC stream whose one field is the column. */
export const encodeOutput = (column: string, type: DataType): string =>
  Buffer.from(tableToIPC(new Table(new Schema([new Field(column, type, true)])), 'stream')).toString('base64');

/**
 * The column that `ComputedFunction.output` describes.
 * @throws JobError FunctionInvalid for what is no such text
 */
export function decodeOutput(text: string): Field {
  try {
    const reader = RecordBatchReader.from(Buffer.from(text, 'base64')).open();
    const [field, ...others] = reader.schema.fields;
    if (field && others.length === 0) return field;
  } catch (cause) {
    throw unreadable(cause);
  }
  throw unreadable(undefined);
}

const unreadable = (cause: unknown): JobError =>
  new JobError(
    'FunctionInvalid',
    'The type of what the function gives can not be read.',
    'Define the function again.',
    cause === undefined ? {} : { cause },
  );
