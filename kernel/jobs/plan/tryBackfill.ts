import {
  type Data,
  Field,
  makeData,
  RecordBatch,
  Schema,
  Struct,
  Table as ArrowTable,
  tableToIPC,
  Utf8,
  vectorFromArray,
} from '#arrow';
import { type JobSpec, specOf } from '#jobs/jobSpec.ts';
import { type ScannedRows, computeScannedRows } from '#jobs/local/answers.ts';
import { openComputing } from '#jobs/local/openComputing.ts';
import { firstAddress, sliceComputed, sliceRead } from '#jobs/local/rows.ts';
import { countScope } from '#jobs/local/scopeCount.ts';
import { openSource, scopeOf, type Source } from '#jobs/local/source.ts';
import { withTempFolder } from '#processes/files.ts';
import { nullData } from '#shared/arrow/nullData.ts';
import { JobError } from '#shared/jobs/jobErrors.ts';
import { type BackfillTrial, maxTrialRows } from '#shared/jobs/jobPlan.ts';
import { loadLazy } from '#shared/loadLazy.ts';
import { checkWhere } from './checkWhere.ts';
import type { ChoosingRequest } from './chooseRunner.ts';

/** Rows that a worker computes at once. */
const mostBatchRows = 256;
/** Milliseconds after which a trial ends with the rows it has. */
const longest = 30_000;

/**
 * Computes the smallest fragment with rows to compute, as a run would, without writing. If the fragment is large or the
 * function is slow, only the first rows are computed. Failed rows are counted and shown, however a run would handle
 * them.
 * @param request must have a function
 * @param rows maximum rows to compute
 * @throws JobError ColumnMissing, FunctionInvalid, RunnerUnavailable for a function in another language; CatalogError
 */
export async function tryBackfill(
  request: ChoosingRequest,
  signal: AbortSignal,
  rows = maxTrialRows,
): Promise<BackfillTrial> {
  const spec = await specOf('bf-trial', request, signal);
  if (spec.function.kind === 'python')
    return withTempFolder('plan', (folder) => byPython(request, spec, { folder, rows }, signal));
  await using source = await openSource(request.table, spec, signal);
  await checkWhere(source, spec.where, signal);
  const scope = scopeOf(spec, source.isColumnThere);
  const { fragments } = await countScope({ table: source.pinned, scope }, undefined, signal);
  const [fragment] = [...fragments].toSorted(([, a], [, b]) => a - b)[0] ?? [];
  if (fragment === undefined) throw nothingToDo(spec.column, request.where);
  return withTempFolder('plan', async (folder) => {
    const now = source.isColumnThere ? spec.column : undefined;
    await using computing = await openComputing({
      ...spec,
      ...source,
      onError: { mode: 'null' },
      batchRows: Math.min(mostBatchRows, rows),
      folder,
      // The current value of the column is read as the key.
      key: now,
      emit: () => undefined,
      log: () => undefined,
      onBusy: () => undefined,
      signal,
    });
    const { inputs } = spec.function;
    const [from, to] = [firstAddress(fragment), firstAddress(fragment + 1)];
    const asked = { table: source.pinned, scope, inputs, key: now, from, to, ...computing.request };
    const start = performance.now();
    const answers = await firstRows(computeScannedRows(asked, signal), start, rows);
    const seconds = (performance.now() - start) / 1000;
    return trialOf(answers, fragment, seconds, source, inputs);
  });
}

async function byPython(
  { python }: ChoosingRequest,
  spec: JobSpec,
  { folder, rows }: { readonly folder: string; readonly rows: number },
  signal: AbortSignal,
): Promise<BackfillTrial> {
  const { tryWithPython } = await loadLazy(() => import('#jobs/runners/pythonRunner.ts'));
  return tryWithPython(spec, { python, folder, log: () => undefined, signal, rows, seconds: longest / 1000 });
}

async function firstRows(answers: AsyncIterable<ScannedRows>, start: number, mostRows: number): Promise<ScannedRows[]> {
  const found: ScannedRows[] = [];
  let rows = 0;
  for await (const answer of answers) {
    const length = Math.min(answer.errors.length, mostRows - rows);
    found.push({
      ...answer,
      read: sliceRead(answer.read, 0, length),
      rows: sliceComputed(answer.rows, 0, length),
      errors: answer.errors.slice(0, length),
    });
    rows += length;
    if (rows >= mostRows || performance.now() - start > longest) break;
  }
  return found;
}

function trialOf(
  answers: readonly ScannedRows[],
  fragment: number,
  seconds: number,
  { column }: Source,
  inputs: readonly string[],
): BackfillTrial {
  const errors = answers.reduce((total, each) => total + each.errors.filter((error) => error !== null).length, 0);
  const before = tableOf(answers, inputs, [
    { field: column, data: ({ read, errors: { length } }) => read.key ?? nullData(column.type, length) },
  ]);
  const error = { field: new Field('error', new Utf8(), true), data: errorData };
  const value = { field: column, data: ({ rows }: ScannedRows) => rows.value };
  const after = tableOf(answers, inputs, errors > 0 ? [value, error] : [value]);
  const rows = answers.reduce((total, each) => total + each.errors.length, 0);
  return { fragment, rows, seconds, errors, before, after };
}

type Column = { readonly field: Field; readonly data: (answer: ScannedRows) => Data };

const errorData = ({ errors }: ScannedRows): Data => vectorFromArray([...errors], new Utf8()).data[0]!;

/** Encodes inputs and columns as an Arrow IPC stream in base64. */
function tableOf(answers: readonly ScannedRows[], inputs: readonly string[], columns: readonly Column[]): string {
  const fields = answers[0]!.read.inputs.schema.fields.filter(({ name }) => inputs.includes(name));
  const schema = new Schema([...fields, ...columns.map(({ field: { name, type } }) => new Field(name, type, true))]);
  const batches = answers.map((answer) => {
    const length = answer.errors.length;
    const read = fields.map(({ name }) => answer.read.inputs.getChild(name)!.data[0]!);
    const children = [...read, ...columns.map(({ data }) => data(answer))];
    return new RecordBatch(schema, makeData({ type: new Struct(schema.fields), length, nullCount: 0, children }));
  });
  return Buffer.from(tableToIPC(new ArrowTable(schema, batches), 'stream')).toString('base64');
}

const nothingToDo = (column: string, where: string | undefined): JobError =>
  new JobError(
    'RequestInvalid',
    where === undefined ? `Every row has a value in "${column}".` : `No row is in scope (${where}).`,
    'Set "where" to select the rows to compute.',
  );
