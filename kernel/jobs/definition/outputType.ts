import { Field, RecordBatchReader, Schema, tableToIPC, Table, type DataType } from '#arrow';
import { JobError } from '#shared/jobs/jobErrors.ts';

// Output types as strings for pipes and metadata: an Arrow IPC stream without batches. A type name such as `int32`
// would not suffice for a struct whose fields have metadata.

/** Encodes a column type for `ComputedFunction.output`: base64 of an IPC stream with the column as its only field. */
export const encodeOutput = (column: string, type: DataType): string =>
  Buffer.from(tableToIPC(new Table(new Schema([new Field(column, type, true)])), 'stream')).toString('base64');

/**
 * Decodes the column of `ComputedFunction.output`.
 * @throws JobError FunctionInvalid if the string is not such a stream
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
