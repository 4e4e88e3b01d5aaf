import { Schema, type Field } from '#arrow';
import type { Table } from '#client/table.ts';
import { countText } from '#shared/formatNumber.ts';
import { fixedWidth, sampledWidth } from '#engine/batchLength.ts';
import { sqlName } from '#client/sqlName.ts';
import type { Source } from '#jobs/local/source.ts';
import type { Figure } from '#shared/jobs/jobPlan.ts';

export const counted = (value: number): Figure => ({ value, basis: 'counted' });

export const estimated = (value: number, estimatedFrom: string): Figure => ({
  value: Math.round(value),
  basis: { estimatedFrom },
});

/** Rows that tell how wide values are whose widths differ. */
const sampleRows = 1000;

/** Bytes of rows in these columns: of numbers and vectors by their widths, of texts and lists by those of some rows. */
export async function bytesOfRows(
  table: Table,
  fields: readonly Field[],
  rows: number,
  scope: string,
  signal: AbortSignal,
): Promise<Figure> {
  if (fields.length === 0 || rows === 0) return counted(0);
  const { schema } = await table
    .query()
    .select(fields.map(({ name }) => name))
    .limit(0)
    .execute({ signal });
  const width = fixedWidth(schema);
  if (width !== undefined) return counted(rows * width);
  const sample = await table
    .query()
    .where(scope)
    .select(fields.map(({ name }) => name))
    .limit(sampleRows)
    .toArrow({ signal });
  return estimated(rows * sampledWidth(sample.batches), `${countText(sample.numRows)} rows`);
}

/** Bytes of as many values of a column that has none yet. */
export async function bytesOfValues(
  { pinned, isColumnThere }: Pick<Source, 'pinned' | 'isColumnThere'>,
  column: Field,
  rows: number,
  signal: AbortSignal,
): Promise<Figure> {
  if (rows === 0) return counted(0);
  const width = fixedWidth(new Schema([column]));
  if (width !== undefined) return estimated(rows * width, `${width} bytes a value, one for each row`);
  const there = pinned
    .query()
    .where(`${sqlName(column.name)} IS NOT NULL`)
    .select([column.name])
    .limit(sampleRows);
  const sample = isColumnThere ? await there.toArrow({ signal }) : undefined;
  if (!sample || sample.numRows === 0)
    return estimated(rows * usualWidth, `${usualWidth} bytes a value, since there is none yet`);
  return estimated(rows * sampledWidth(sample.batches), `${countText(sample.numRows)} values that are there`);
}

/** Of a text, where nothing is known of it. */
const usualWidth = 32;

/** Two figures as one: an estimate where one of them is. */
export function sum(a: Figure, b: Figure): Figure {
  const value = a.value + b.value;
  if (a.basis !== 'counted') return { value, basis: a.basis };
  return { value, basis: b.basis };
}
