import { Table, tableToIPC, type Vector } from '#arrow';
import { columnsOf } from '#shared/arrow/arrowTypes.ts';
import { readArrow } from '#shared/arrow/readArrow.ts';
import { columnFormatter } from '#shared/format/cellText.ts';
import { cutText, oneLine } from '#shared/format/markup.ts';
import { countText } from '#shared/format/numbers.ts';
import { durationText } from '#shared/format/times.ts';
import { JobError } from '#shared/jobs/jobErrors.ts';
import { rowsText } from '#shared/jobs/jobLabels.ts';
import { type BackfillPlan, type BackfillTrial, type PlanSample, sampleRows } from '#shared/jobs/jobPlan.ts';
import { type TableSource, trialKey } from '../../panels/tableSource.ts';

/** The columns of a trial: inputs, the column before and after, and the errors of failed rows, if any failed. */
type TrialColumns = {
  readonly was: Table;
  readonly becomes: Table;
  readonly inputs: readonly string[];
  /** All columns except the computed one. */
  readonly others: readonly string[];
};

/** @throws JobError Internal if the two tables of the trial don't match */
function readTrial(column: string, { before, after }: Pick<BackfillTrial, 'before' | 'after'>): TrialColumns {
  const [was, becomes] = [before, after].map((text) => readArrow(Buffer.from(text, 'base64'))) as [Table, Table];
  if (!was.getChild(column) || !becomes.getChild(column) || was.numRows !== becomes.numRows)
    throw new JobError(
      'Internal',
      "Can't show the trial: its rows before and after the function do not match.",
      'Try again.',
    );
  const [inputs, others] = [was, becomes].map(({ schema }) =>
    schema.fields.map(({ name }) => name).filter((name) => name !== column),
  ) as [string[], string[]];
  return { was, becomes, inputs, others };
}

/**
 * Returns the result of a trial as a table: the inputs, the column before and after, and the errors of failed rows.
 * @throws JobError Internal if the two tables of the trial don't match
 */
export function trialTable(column: string, trial: Pick<BackfillTrial, 'before' | 'after'>): Table {
  const { was, becomes, inputs, others } = readTrial(column, trial);
  const pick = (names: readonly string[]) => Object.fromEntries(names.map((name) => [name, becomes.getChild(name)!]));
  return new Table({
    ...pick(inputs),
    [freeName(`${column} (before)`, others)]: was.getChild(column)!,
    [freeName(`${column} (after)`, others)]: becomes.getChild(column)!,
    // The columns of `others` that are not inputs have the errors of failed rows.
    ...pick(others.filter((name) => !inputs.includes(name))),
  });
}

/** Maximum characters of a value in a sample. */
const sampleChars = 60;

/** Returns a function that formats the value of a row. */
function sampleTexts(values: Vector): (row: number) => string {
  const cell = columnFormatter(values);
  return (row) => cutText(oneLine(cell(row).text), sampleChars);
}

/**
 * Returns the first rows of a trial as text, to show beside a plan.
 * @throws JobError Internal if the two tables of the trial don't match
 */
export function sampleOf(column: string, trial: Pick<BackfillTrial, 'before' | 'after'>): PlanSample {
  const { was, becomes, inputs, others } = readTrial(column, trial);
  const [before, after] = [was, becomes].map((table) => sampleTexts(table.getChild(column)!));
  const given = inputs.map((name) => sampleTexts(becomes.getChild(name)!));
  const errors = others.filter((name) => !inputs.includes(name)).map((name) => becomes.getChild(name)!);
  return {
    inputs,
    rows: Array.from({ length: Math.min(sampleRows, becomes.numRows) }, (_, row) => ({
      inputs: given.map((text) => text(row)),
      before: before!(row),
      after: after!(row),
      error: errors.map((values) => cutText(oneLine(String(values.get(row) ?? '')), 200)).join(''),
    })),
  };
}

/** Returns a panel source that shows a trial. A reload can't restore the panel, because no catalog has the trial. */
export function trialSource({ column }: Pick<BackfillPlan, 'column'>, trial: BackfillTrial): TableSource {
  const table = trialTable(column, trial);
  const { fragment, rows, seconds, errors } = trial;
  const failed = errors === 0 ? '' : `, ${rowsText(errors)} failed`;
  const title = `Trial: ${column}`;
  return {
    title,
    open: () =>
      Promise.resolve({
        title,
        key: trialKey(`${column} ${Date.now()}`),
        columns: columnsOf(table.schema),
        numRows: table.numRows,
        version: null,
        note: `Fragment ${countText(fragment)}: ${rowsText(rows)} computed in ${durationText(seconds)}${failed}. Nothing was written.`,
      }),
    rows: (start, end) => Promise.resolve(tableToIPC(table.slice(start, end), 'stream')),
  };
}

function freeName(name: string, taken: readonly string[]): string {
  return taken.includes(name) ? freeName(`${name}′`, taken) : name;
}
