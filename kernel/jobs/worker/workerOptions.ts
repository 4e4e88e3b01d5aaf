import type { Field } from '#arrow';
import type { OnError } from '#shared/jobs/computedFunction.ts';
import { readOnError } from '#shared/jobs/backfill.ts';
import { isRecord } from '#shared/records.ts';
import { decodeOutput } from '#jobs/definition/outputType.ts';

/** Rows in progress at once, for asynchronous functions. */
const defaultConcurrency = 16;

/** Options in the first line of a worker's input, as JSON. Drivers in other languages write the same line. */
export type WorkerOptions = {
  /** Path of an ES module with the function as default export. */
  readonly module: string;
  readonly takes: 'row' | 'batch';
  readonly inputs: readonly string[];
  readonly output: Field;
  readonly onError: OnError;
  readonly concurrency: number;
};

/** Encodes the options. `output` is encoded as in a ComputedFunction. */
export const workerLine = (
  options: Omit<WorkerOptions, 'output' | 'concurrency'> & { readonly output: string; readonly concurrency?: number },
): string =>
  `${JSON.stringify({
    module: options.module,
    takes: options.takes,
    inputs: options.inputs,
    output: options.output,
    on_error: options.onError,
    concurrency: options.concurrency,
  })}\n`;

/** Parses the line of options. @throws Error if it is invalid */
export function readWorkerOptions(line: string): WorkerOptions {
  const json: unknown = JSON.parse(line);
  if (!isRecord(json)) throw wrong('a JSON object');
  const { module, takes, inputs, output, on_error: onError, concurrency = defaultConcurrency } = json;
  if (typeof module !== 'string' || module === '') throw wrong('a "module" (file path)');
  if (takes !== 'row' && takes !== 'batch') throw wrong('"row" or "batch" for "takes"');
  if (!Array.isArray(inputs) || !inputs.every((name): name is string => typeof name === 'string'))
    throw wrong('a list of column names for "inputs"');
  if (typeof output !== 'string') throw wrong('an "output" (Arrow IPC stream in base64)');
  if (typeof concurrency !== 'number' || !Number.isInteger(concurrency) || concurrency < 1)
    throw wrong('a positive integer for "concurrency"');
  const read = readOnError(onError);
  if (!read) throw wrong('"on_error" with a "mode": "fail", "null", "skip", or "retry" with a number of "attempts"');
  return { module, takes, inputs, output: decodeOutput(output), onError: read, concurrency };
}

const wrong = (wanted: string): Error => new Error(`Invalid worker options: expected ${wanted}.`);
