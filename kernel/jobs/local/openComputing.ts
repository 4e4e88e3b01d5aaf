import { join } from 'node:path';
import type { Field } from '#arrow';
import type { ComputedFunction, OnError } from '#shared/jobs/computedFunction.ts';
import { JobError } from '#shared/jobs/jobErrors.ts';
import type { Table } from '#catalog/table/table.ts';
import type { NewEvent } from '#jobs/runners/runner.ts';
import { FunctionWorkers } from '#jobs/worker/functionWorkers.ts';
import { BatchSize, mostRows } from './batchSize.ts';
import { computeBySql, computeByWorkers, type Compute, type Computing } from './computeRows.ts';
import { sliceComputed, rowRuns, type ComputedRows, type ReadRows } from './rows.ts';
import { sqlRows } from './sqlRows.ts';

export type ComputingOptions = {
  readonly function: ComputedFunction;
  readonly column: Field;
  readonly onError: OnError;
  /** Number of worker processes. */
  readonly concurrency: number;
  /** Upper limit of rows per batch. */
  readonly batchRows: number;
  /** Folder for the files of the function. */
  readonly folder: string;
  /** Name of the key column. Set if rows are written back. */
  readonly key?: string | undefined;
  readonly openAt: (version: number) => Promise<Table>;
  readonly emit: (event: NewEvent) => void;
  readonly log: (text: string) => void;
  /** Receives the seconds that workers were busy. */
  readonly onBusy: (seconds: number) => void;
  readonly signal: AbortSignal;
};

export type OpenComputing = AsyncDisposable & {
  readonly request: {
    readonly computing: Computing;
    readonly batchSize: Pick<BatchSize, 'rows'>;
    readonly atOnce: number;
  } & (
    | { readonly expression: string; readonly compute?: undefined }
    | { readonly compute: Compute; readonly expression?: undefined }
  );
  /** Computes rows again from their inputs in `version`, because another client changed these inputs. */
  again(rows: ReadRows, version: number): Promise<ComputedRows[]>;
};

/**
 * Prepares the computation of a function. Starts workers if it is a TypeScript function.
 * @throws JobError RunnerUnavailable for other kinds than SQL and TypeScript
 */
export async function openComputing(options: ComputingOptions): Promise<OpenComputing> {
  const { function: fn, column, onError, signal } = options;
  const computing: Computing = { name: fn.name, column, inputs: fn.inputs, onError };
  if (fn.kind === 'sql') {
    const { expression } = fn;
    // The size is constant, because the engine has already computed the values.
    const batchSize = { rows: Math.min(options.batchRows, mostRows) };
    return {
      request: { computing, batchSize, atOnce: 1, expression },
      again: (rows, version) => sqlAgain(options, computing, expression, rows, version),
      [Symbol.asyncDispose]: () => Promise.resolve(),
    };
  }
  if (fn.kind !== 'typescript') throw notHere(fn);
  const batchSize = new BatchSize(options.batchRows);
  const workers = await FunctionWorkers.start({
    function: fn,
    count: options.concurrency,
    onError,
    folder: join(options.folder, 'function'),
    log: options.log,
    onRestart: (reason) => options.emit({ kind: 'restarted', what: 'function', reason }),
    onAnswer: (rows, seconds) => {
      batchSize.took(rows, seconds);
      options.onBusy(seconds);
    },
    signal,
  });
  options.emit({ kind: 'workers', ready: workers.size, wanted: options.concurrency });
  const compute = computeByWorkers(computing, (batch) => workers.compute(batch));
  return {
    request: { computing, batchSize, atOnce: workers.size * 2 + 1, compute },
    again: async (rows) => [(await compute(rows, signal)).rows],
    [Symbol.asyncDispose]: () => workers[Symbol.asyncDispose](),
  };
}

/**
 * Reads changed rows again at the version in which the change was found, because only the engine evaluates expressions.
 */
async function sqlAgain(
  { openAt, key, signal }: ComputingOptions,
  computing: Computing,
  expression: string,
  wanted: ReadRows,
  version: number,
): Promise<ComputedRows[]> {
  const found: ComputedRows[] = [];
  const table = await openAt(version);
  const isWanted = new Set(wanted.addresses);
  const [from, to] = [wanted.addresses[0]!, wanted.addresses.at(-1)! + 1n];
  const request = { table, scope: 'TRUE', inputs: computing.inputs, key, expression, from, to };
  for await (const { rows, failed } of sqlRows(request, computing, signal)) {
    const computed = failed ? failed.rows : (await computeBySql(computing)(rows, signal)).rows;
    for (const { start, end, is } of rowRuns(rows.addresses.length, (row) => isWanted.has(rows.addresses[row]!))) {
      if (is) found.push(sliceComputed(computed, start, end));
    }
  }
  return found;
}

const notHere = ({ name, kind }: ComputedFunction): JobError =>
  kind === 'python'
    ? new JobError(
        'RunnerUnavailable',
        `The function "${name}" is written in Python, which the runner "local" can't run.`,
        'Use the runner "local-python".',
      )
    : new JobError('RunnerUnavailable', `Only the catalog server can compute "${name}".`, 'Use the runner "rest".');
