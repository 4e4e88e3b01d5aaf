import { Field, Schema, tableToIPC, Table, type DataType } from '#arrow';
import { readArrow } from '#shared/arrow/readArrow.ts';
import { JobError } from '#shared/jobs/jobErrors.ts';

// Output types are stored as strings: Arrow IPC streams without batches, in base64. A name such as `int32` would not
// suffice for a struct whose fields have metadata.

/** Encodes a column type for `ComputedFunction.output`, in base64. */
export const encodeOutput = (column: string, type: DataType): string =>
  Buffer.from(tableToIPC(new Table(new Schema([new Field(column, type, true)])), 'stream')).toString('base64');

/**
 * Decodes the column of `ComputedFunction.output`.
 * @throws JobError FunctionInvalid if the string is not such a stream
 */
export function decodeOutput(text: string): Field {
  try {
    const [field, ...others] = readArrow(Buffer.from(text, 'base64')).schema.fields;
    if (field && others.length === 0) return field;
  } catch (cause) {
    throw unreadable(cause);
  }
  throw unreadable(undefined);
}

const unreadable = (cause: unknown): JobError =>
  new JobError(
    'FunctionInvalid',
    "Can't read the output type of the function.",
    'Define the function again.',
    cause === undefined ? {} : { cause },
  );
