import { isColumnName, parseFieldPath, quotedFieldPath } from '#shared/fieldPath.ts';
import { shownZone, type TimeUnit, timeUnitNames } from '#shared/format/times.ts';
import type { ColumnInfo } from '#shared/protocol/webviewMessages.ts';
import { shownTimeZone } from '../../grid/timeZone.ts';

/** What conditions can compare in a column. Columns of the kind `other` can only be null or not. */
export type FilterKind =
  'integer' | 'float' | 'decimal' | 'date' | 'time' | 'timestamp' | 'boolean' | 'text' | 'vector' | 'other';

/** The type of a column, as far as its literals depend on it. */
export type FilterType = {
  readonly kind: FilterKind;
  /** Bits of an integer, or of a type of times. */
  readonly bits: number;
  readonly isSigned: boolean;
  /** Whether it is a float of 16 bits, which the engine compares only after a cast. */
  readonly isHalf: boolean;
  /** Digits of a decimal, in all and after the point. */
  readonly precision: number;
  readonly scale: number;
  readonly unit: TimeUnit;
  /** The zone of a timestamp. */
  readonly zone: string | undefined;
};

const plain: FilterType = {
  kind: 'other',
  bits: 64,
  isSigned: true,
  isHalf: false,
  precision: 38,
  scale: 0,
  unit: 2,
  zone: undefined,
};

const vectorType = /^fixed_size_list<(halffloat|float|double)>/;
const textType = /^(?:large_utf8|utf8_view|utf8)$/;

/** Reads the type of a column. */
export function filterType({ type, blob }: FilterColumn): FilterType {
  if (blob !== undefined) return plain;
  if (textType.test(type)) return { ...plain, kind: 'text' };
  if (type === 'bool') return { ...plain, kind: 'boolean' };
  if (type === 'date32' || type === 'date64') return { ...plain, kind: 'date', unit: type === 'date32' ? 0 : 1 };
  if (vectorType.test(type)) return { ...plain, kind: 'vector' };
  if (['halffloat', 'float', 'double'].includes(type))
    return { ...plain, kind: 'float', isHalf: type === 'halffloat', bits: type === 'double' ? 64 : 32 };
  const integer = /^(u?)int(\d+)$/.exec(type);
  if (integer) return { ...plain, kind: 'integer', isSigned: integer[1] === '', bits: Number(integer[2]) };
  const decimal = /^decimal(\d+)\((\d+), (-?\d+)\)$/.exec(type);
  if (decimal) {
    const [bits, precision, scale] = decimal.slice(1).map(Number) as [number, number, number];
    return { ...plain, kind: 'decimal', bits, precision, scale };
  }
  const time = /^(time32|time64|timestamp)\[(\w+)(?:, (.*))?\]$/.exec(type);
  const unit = timeUnitNames.findIndex((name) => name === time?.[2]);
  if (!time || unit < 0) return plain;
  const kind = time[1] === 'timestamp' ? 'timestamp' : 'time';
  return { ...plain, kind, bits: time[1] === 'time32' ? 32 : 64, unit: unit as TimeUnit, zone: time[3] };
}

/** A column that can have a filter: one of the table, or a nested field, whose name is its path. */
export type FilterColumn = Omit<ColumnInfo, 'fields'> & { readonly parent?: number | undefined };

/** Whether a filter can name a column. */
export const canFilter = ({ name, parent }: FilterColumn): boolean => parent !== undefined || isColumnName(name);

/** The zone in which the user writes times of a column; undefined for columns without a zone. */
export const typedZone = ({ zone }: FilterType): string | undefined => shownZone(zone, shownTimeZone()) ?? undefined;

/** Words that SQL would not read as the name of a column. */
const reserved = new Set(
  (
    'all and any array as between case cast ceil current_date current_time current_timestamp date datetime distinct else ' +
    'end exists extract false floor from in interval is like ilike not null on or order group by limit overlay position ' +
    'select similar struct substring then time timestamp trim true try_cast union using when where with'
  ).split(' '),
);

/**
 * Writes the name of a column as conditions have it: in backticks unless it is surely read as a name. The names in a path
 * all have backticks.
 */
export function conditionName(name: string): string {
  const path = parseFieldPath(name) ?? [name];
  if (path.length > 1) return quotedFieldPath(path);
  return /^[a-z_][a-z0-9_]*$/.test(name) && !reserved.has(name) ? name : `\`${name}\``;
}
