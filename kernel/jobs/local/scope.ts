import { sqlName } from '#client/sqlName.ts';
import type { JobSpec } from '#jobs/jobSpec.ts';

/** SQL that says which rows are computed: as the job says, else those whose value is null: all, before there is a column. */
export const scopeOf = ({ where, column }: Pick<JobSpec, 'where' | 'column'>, isColumnThere = true): string =>
  where ?? (isColumnThere ? `${sqlName(column)} IS NULL` : 'TRUE');

/** `scope` within rows of these addresses, `to` not among them. */
export const scopeBetween = (scope: string, from: bigint, to: bigint | undefined): string =>
  `(${scope}) AND _rowaddr >= ${from}${to === undefined ? '' : ` AND _rowaddr < ${to}`}`;
