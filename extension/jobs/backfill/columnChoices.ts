import { countText } from '#shared/format/numbers.ts';
import type { ComputedColumn } from '#shared/jobs/computedFunction.ts';
import type { ColumnInfo } from '#shared/protocol/webviewMessages.ts';
import { columnIcon } from '../../explorer/render.ts';
import type { Choice } from '../../host/ask.ts';

/** The choices for the column to compute: a column with a function, a column without one, or a new column. */
export type ColumnChoice =
  | { readonly kind: 'computed'; readonly name: string; readonly computed: ComputedColumn }
  | { readonly kind: 'plain'; readonly name: string; readonly type: string }
  | { readonly kind: 'new'; readonly name: string };

/** Returns a description such as `820 of 1,000 rows filled · its function is newer than its values`. */
export function filledText({ rows, filled, isStale }: Pick<ComputedColumn, 'rows' | 'filled' | 'isStale'>): string {
  const share =
    filled === rows ? `all ${countText(rows)} rows filled` : `${countText(filled)} of ${countText(rows)} rows filled`;
  return isStale ? `${share} · its function is newer than its values` : share;
}

/**
 * Returns the choices in this order: columns with a function, a new column, other columns. Columns with a function need
 * no further input.
 */
export function columnChoices(
  columns: readonly ColumnInfo[],
  computed: readonly ComputedColumn[],
): readonly Choice<ColumnChoice | 'new'>[] {
  const known = new Map(computed.map((one) => [one.column, one]));
  return [
    ...computed.map((one) => ({
      label: one.column,
      description: `${one.type} · ${one.keptBy === 'engine' ? 'computed by the engine' : one.function.name}`,
      detail: filledText(one),
      icon: one.isStale ? 'warning' : 'symbol-function',
      value: { kind: 'computed' as const, name: one.column, computed: one },
    })),
    { label: 'New Column…', icon: 'add', value: 'new' as const },
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
  if (name.includes('.')) return 'The name must not contain a dot.';
  return undefined;
}
