import { Table, tableToIPC } from '#arrow';
import { columnsOf } from '#shared/arrow/arrowTypes.ts';
import { readArrow } from '#shared/arrow/readArrow.ts';
import { countText } from '#shared/format/numbers.ts';
import { durationText } from '#shared/format/times.ts';
import { JobError } from '#shared/jobs/jobErrors.ts';
import { rowsText } from '#shared/jobs/jobLabels.ts';
import type { BackfillPlan, BackfillTrial } from '#shared/jobs/jobPlan.ts';
import type { TableSource } from '../../panels/tableSource.ts';

/**
 * Returns the result of a trial as a table: the inputs, the column before and after, and the errors of failed rows.
 * @throws JobError Internal if the two tables of the trial don't match
 */
export function trialTable(column: string, { before, after }: Pick<BackfillTrial, 'before' | 'after'>): Table {
  const [was, becomes] = [before, after].map((text) => readArrow(Buffer.from(text, 'base64'))) as [Table, Table];
  const [old, fresh] = [was.getChild(column), becomes.getChild(column)];
  if (!old || !fresh || was.numRows !== becomes.numRows)
    throw new JobError(
      'Internal',
      "Can't show the trial: its rows before and after the function do not match.",
      'Try again.',
    );
  const [inputs, all] = [was, becomes].map(({ schema }) =>
    schema.fields.map(({ name }) => name).filter((name) => name !== column),
  ) as [string[], string[]];
  const pick = (names: readonly string[]) => Object.fromEntries(names.map((name) => [name, becomes.getChild(name)!]));
  return new Table({
    ...pick(inputs),
    [freeName(`${column} (before)`, all)]: old,
    [freeName(`${column} (after)`, all)]: fresh,
    // The columns of `all` that are not inputs have the errors of failed rows.
    ...pick(all.filter((name) => !inputs.includes(name))),
  });
}

/** Returns a panel source that shows a trial. A reload can't restore the panel, because no catalog has the trial. */
export function trialSource({ column }: Pick<BackfillPlan, 'column'>, trial: BackfillTrial): TableSource {
  const table = trialTable(column, trial);
  const { fragment, rows, seconds, errors } = trial;
  const failed = errors === 0 ? '' : `, ${rowsText(errors)} failed`;
  const title = `Trial of ${column}`;
  return {
    title,
    open: () =>
      Promise.resolve({
        title,
        key: `trial ${column} ${Date.now()}`,
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
