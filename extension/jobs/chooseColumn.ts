import type { ComputedColumn } from '#shared/jobs/computedFunction.ts';
import type { ColumnInfo } from '#shared/messages.ts';
import { askOne, askText } from '../host/ask.ts';
import { columnChoices, nameProblem, type ColumnChoice } from './columnChoices.ts';

/** The column that was pointed at, or that the person picks. `undefined` when they leave. */
export async function chooseColumn(
  table: string,
  columns: readonly ColumnInfo[],
  computed: readonly ComputedColumn[],
  pointed: string | undefined,
): Promise<ColumnChoice | undefined> {
  const choices = columnChoices(columns, computed);
  const found = choices.find(({ value }) => value !== 'new' && value.name === pointed)?.value;
  const chosen = found ?? (await askOne(`Backfill which column of ${table}?`, choices));
  return chosen === 'new' ? newColumn(table, columns) : chosen;
}

async function newColumn(table: string, columns: readonly ColumnInfo[]): Promise<ColumnChoice | undefined> {
  const name = await askText({
    title: `New column of ${table}`,
    prompt: 'The name of the column. It is added when the backfill starts.',
    placeHolder: 'caption_length',
    check: (typed) => nameProblem(typed, columns),
  });
  return name === undefined ? undefined : { kind: 'new', name };
}
