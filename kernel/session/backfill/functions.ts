import type { FunctionGiven } from '#client/backfill.ts';
import type { Table } from '#client/table.ts';
import { isYes } from '#shared/isYes.ts';
import { isRecord } from '#shared/records.ts';
import { functionForms, type ComputedFunction } from '#shared/jobs/computedFunction.ts';
import { isJobError, JobError } from '#shared/jobs/jobErrors.ts';
import type { FunctionSource } from '#shared/jobs/jobMessages.ts';
import { displayPath } from '#shared/names.ts';
import { loadPart } from '#shared/loadPart.ts';

const loadParts = () => loadPart(() => import('#jobs/parts.ts'));

/** The function that a cell gives: of `udf()`, as SQL, or in a file seen from the notebook's folder. */
export async function functionOf(
  given: FunctionGiven | ComputedFunction,
  table: Table,
  column: string,
  signal: AbortSignal,
): Promise<ComputedFunction> {
  const { functionHash, readFunction } = await loadParts();
  // What udf() gives is frozen; one that was copied and changed has another hash than it says.
  if (isComputedFunction(given) && functionHash(given) === given.hash) return given;
  return readFunction(sourceOf(given), { folder: process.cwd(), table, column }, signal);
}

function sourceOf(given: object): FunctionSource {
  if (isRecord(given)) {
    const { sql, file, export: entry, inputs, output, takes, name, version } = given;
    const called = { name: textOf(name), version: textOf(version) };
    if (typeof sql === 'string') return { ...called, kind: 'sql', expression: sql };
    if (typeof file === 'string' && !file.endsWith('.py'))
      return { ...called, kind: 'typescript', file, export: textOf(entry) };
    if (typeof file === 'string' && typeof entry === 'string' && isTexts(inputs) && typeof output === 'string')
      return { ...called, kind: 'python', file, entry, takes: takes === 'batch' ? 'batch' : 'row', inputs, output };
  }
  throw new JobError(
    'FunctionInvalid',
    'The option "function" is no function of a column.',
    "Give udf({ … }, (row) => …), { sql: 'length(caption)' }, { file: './f.ts' }, or { file: './f.py', export: 'f', inputs: ['caption'], output: 'int32' }.",
  );
}

const isComputedFunction = (given: FunctionGiven | ComputedFunction): given is ComputedFunction =>
  'hash' in given && typeof given.hash === 'string' && typeof given.kind === 'string';

const textOf = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);
const isTexts = (value: unknown): value is string[] =>
  Array.isArray(value) && value.every((each) => typeof each === 'string');

const cellForms =
  "{ function: udf({ … }, (row) => …) }, or in it { sql: '…' } or { file: '…' } of TypeScript or Python";

/** Does what is about a column; where an error asks for a function, it says how a cell gives one. */
export async function inCellWords<T>(act: () => Promise<T>): Promise<T> {
  try {
    return await act();
  } catch (error) {
    if (!isJobError(error) || !error.hint.includes(functionForms)) throw error;
    throw new JobError(
      error.kind,
      error.what,
      error.hint.replace(functionForms, () => cellForms),
    );
  }
}

/** Does what may run a function that was found on the table; one that is new to this machine is shown and asked about. */
export async function withConsent<T>(
  ask: (question: string) => Promise<string>,
  table: Table,
  column: string,
  signal: AbortSignal,
  act: () => Promise<T>,
): Promise<T> {
  const parts = await loadParts();
  return parts.withConsent(
    {
      table: displayPath(table.namespacePath, table.name),
      column,
      stored: () => parts.storedFunction(table, column, signal),
      ask: async (text) => isYes(await ask(`${text}\n\nRun this function on this machine, now and later? [y/N] `)),
      howToAllow: (hash) => `To allow it without being asked: { allowStoredCode: ['${hash}'] }.`,
    },
    () => inCellWords(act),
  );
}
