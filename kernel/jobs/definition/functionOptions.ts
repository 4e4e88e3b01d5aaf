import { DataType } from '#arrow';
import { adoptTable } from '#shared/adoptTable.ts';
import { typeText } from '#shared/arrowTypes.ts';
import type { OnError } from '#shared/jobs/computedFunction.ts';
import { JobError } from '#shared/jobs/jobErrors.ts';
import { onErrorOfWords, readOnError } from '#shared/jobs/onError.ts';
import { isRecord } from '#shared/records.ts';
import { typeOfWords } from './typeWords.ts';

/** What is said of a function beside its code, checked. */
export type FunctionOptions = {
  readonly name: string;
  readonly version: string;
  readonly inputs: readonly string[];
  readonly type: DataType;
  readonly takes: 'row' | 'batch';
  readonly onError: OnError;
};

const known = ['name', 'input', 'output', 'version', 'takes', 'onError'];

/**
 * Checks the options of `udf`.
 * @throws JobError FunctionInvalid that says which one is wrong and how it is written
 */
export function checkFunctionOptions(options: unknown): FunctionOptions {
  if (!isRecord(options)) {
    throw invalid('udf was given no options.', "Write udf({ name: 'words', input: ['text'], output: 'int32' }, …).");
  }
  const unknown = Object.keys(options).find((name) => !known.includes(name));
  if (unknown !== undefined) throw invalid(`udf knows no option "${unknown}".`, `It has ${known.join(', ')}.`);
  const { name, input, output, version = '', takes = 'row', onError = 'fail' } = options;
  if (typeof name !== 'string' || !/^[\p{L}_][\p{L}\p{N}_.-]{0,99}$/u.test(name))
    throw invalid(`The name ${JSON.stringify(name) ?? 'of the function'} is none.`, "Write name: 'caption_length'.");
  const of = `The function "${name}"`;
  if (typeof version !== 'string' && typeof version !== 'number')
    throw invalid(`${of} has a version that is no text.`, "Write version: '2'.");
  if (takes !== 'row' && takes !== 'batch')
    throw invalid(`${of} says that it takes ${JSON.stringify(takes) ?? 'nothing'}.`, "Write takes: 'row' or 'batch'.");
  return {
    name,
    version: String(version),
    inputs: inputsOf(of, input),
    type: outputType(of, output),
    takes,
    onError: onErrorOf(of, onError),
  };
}

function inputsOf(of: string, input: unknown): readonly string[] {
  const names: unknown[] = typeof input === 'string' ? [input] : Array.isArray(input) ? input : [];
  const inputs = names.filter((name): name is string => typeof name === 'string' && name !== '');
  if (inputs.length === 0 || inputs.length < names.length)
    throw invalid(`${of} does not say which columns it reads.`, "Write input: ['text'].");
  const twice = inputs.find((name, index) => inputs.indexOf(name) !== index);
  if (twice !== undefined) throw invalid(`${of} reads "${twice}" twice.`, 'Name a column once.');
  return inputs;
}

/** @throws JobError FunctionInvalid */
export function outputType(of: string, output: unknown): DataType {
  if (typeof output === 'string') return checkOutput(of, typeOfWords(output));
  const isType = isRecord(output) && typeof output['typeId'] === 'number';
  if (!isType) throw invalid(`${of} does not say what it gives.`, 'Write output: new arrow.Int32().');
  const field = { name: 'value', type: output, nullable: true };
  const adopted = adoptTable({ schema: { fields: [field] }, batches: [] })?.schema.fields[0]?.type;
  if (!adopted) throw invalid(`${of} gives no type of Arrow.`, 'Write output: new arrow.Int32().');
  return checkOutput(of, adopted);
}

/** @throws JobError FunctionInvalid */
export function checkOutput(of: string, type: DataType, hint = 'Give the type of its values.'): DataType {
  if (!DataType.isDictionary(type) && !DataType.isUnion(type) && !DataType.isNull(type)) return type;
  throw invalid(`${of} gives ${typeText(type)}, which no column is computed as.`, hint);
}

/** As a person writes it, or what it becomes. @throws JobError FunctionInvalid */
function onErrorOf(of: string, value: unknown): OnError {
  const read = onErrorOfWords(value) ?? readOnError(value);
  if (read) return read;
  throw invalid(
    `${of} says what to do with errors in a way that is not known.`,
    "Write onError: 'fail', 'null', 'skip' or { retry: 3 }.",
  );
}

export const invalid = (what: string, hint: string, cause?: unknown): JobError =>
  new JobError('FunctionInvalid', what, hint, cause === undefined ? {} : { cause });
