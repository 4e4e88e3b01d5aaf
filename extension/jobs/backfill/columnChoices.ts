import { isPlainName } from '#shared/fieldPath.ts';
import { countText } from '#shared/format/numbers.ts';
import { rowsText } from '#shared/jobs/jobLabels.ts';
import type { ComputedColumn } from '#shared/jobs/computedFunction.ts';
import type { ColumnInfo } from '#shared/protocol/webviewMessages.ts';
import { columnIcon } from '../../explorer/render.ts';
import type { Choice } from '../../host/ask.ts';

/** The choices for the column to compute: a column with a function, a column without one, or a new column. */
export type ColumnChoice =
  | { readonly kind: 'computed'; readonly name: string; readonly computed: ComputedColumn }
  | { readonly kind: 'plain'; readonly name: string; readonly type: string }
  | { readonly kind: 'new'; readonly name: string };

/**
 * Returns a description such as `820 of 1,000 rows filled · its function is newer than its values`. After a run over all
 * rows, the rows without a value are those for which the function returned none: `done · 180 rows have no value`.
 */
export function filledText(
  column: Pick<ComputedColumn, 'rows' | 'filled' | 'isStale' | 'valuesHash' | 'complete'> & {
    readonly function: Pick<ComputedColumn['function'], 'hash'>;
  },
): string {
  const { rows, filled, isStale } = column;
  const empty = rows - filled;
  if (empty === 0) return `all ${countText(rows)} rows filled${isStale ? staleText : ''}`;
  if (isComplete(column)) return `done · ${rowsText(empty)} ${empty === 1 ? 'has' : 'have'} no value`;
  return `${countText(filled)} of ${countText(rows)} rows filled${isStale ? staleText : ''}`;
}

const staleText = ' · its function is newer than its values';

/** Whether a run computed all rows with the column's function, and no rows were added or emptied since then. */
const isComplete = ({
  rows,
  filled,
  valuesHash,
  complete,
  function: { hash },
}: Parameters<typeof filledText>[0]): boolean =>
  complete !== undefined && valuesHash === hash && rows <= complete.rows && rows - filled <= complete.empty;

/**
 * Returns the choices in this order: a new column, columns with a function, other columns. The first choice changes no
 * existing values, because Enter chooses it.
 */
export function columnChoices(
  columns: readonly ColumnInfo[],
  computed: readonly ComputedColumn[],
): readonly Choice<ColumnChoice | 'new'>[] {
  const known = new Map(computed.map((one) => [one.column, one]));
  return [
    { label: 'New Column…', icon: 'add', value: 'new' as const, isAlwaysShown: true },
    ...computed.map((one) => ({
      label: one.column,
      description: `${one.type} · ${one.keptBy === 'engine' ? 'computed by the engine' : one.function.name}`,
      detail: filledText(one),
      icon: one.isStale ? 'warning' : 'symbol-function',
      value: { kind: 'computed' as const, name: one.column, computed: one },
    })),
    ...columns
      .filter(({ name }) => !known.has(name))
      .map(({ name, type }) => ({
        label: name,
        description: type,
        icon: columnIcon(type),
        value: { kind: 'plain' as const, name, type },
      })),
  ];
}

/** Returns the error message for an invalid name of a new column; `undefined` if the name is valid. */
export function nameProblem(name: string, columns: readonly { readonly name: string }[]): string | undefined {
  if (name.trim() === '') return 'A column needs a name.';
  if (name.trim() !== name) return 'The name must not start or end with a space.';
  if (columns.some((one) => one.name === name)) return `The column "${name}" already exists. Go back and select it.`;
  // The engine reads a dot as access to a struct field.
  if (name.includes('.')) return `The name must not contain a dot. For example: ${plainName(name)}`;
  // Catalogs refuse a backtick, because SQL quotes names with backticks.
  if (name.includes('`')) return `The name must not contain a backtick. For example: ${plainName(name)}`;
  return undefined;
}

/** Returns a warning for a name that SQL can only use in backticks, with a name that needs none. */
export function nameWarning(name: string): string | undefined {
  if (name === '' || isPlainName(name)) return undefined;
  const plain = plainName(name);
  const other = isPlainName(plain) ? ` A name without them: ${plain}` : '';
  return `In SQL, this name needs backticks: ${sqlText(name)}.${other}`;
}

const plainName = (name: string): string => name.trim().replaceAll(/\W+/g, '_');

const sqlText = (name: string): string => (isPlainName(name) ? name : `\`${name.replaceAll('`', '``')}\``);

/** An example of a new column: its name, and an expression over a column that the table has. */
export type ColumnExample = { readonly name: string; readonly expression: string };

const isNumber = ({ type }: ColumnInfo): boolean => /^(u?int\d+|float\d*|double|halffloat|decimal)/.test(type);

/** Returns an example that uses the first text column, else the first number column, else the first column. */
export function exampleOf(columns: readonly ColumnInfo[]): ColumnExample {
  const text = columns.find(({ type }) => /^(large_)?(utf8|string)/.test(type));
  if (text) return { name: plainName(`${text.name}_length`), expression: `length(${sqlText(text.name)})` };
  const numbers = columns.filter(isNumber);
  const number = numbers.find(({ name }) => !/^(id|.*_id|key)$/i.test(name)) ?? numbers[0];
  if (number) return { name: plainName(`${number.name}_doubled`), expression: `${sqlText(number.name)} * 2` };
  const [first] = columns;
  if (!first) return { name: 'one', expression: '1' };
  return { name: plainName(`has_${first.name}`), expression: `${sqlText(first.name)} IS NOT NULL` };
}
