import { DataType, DateUnit, TimeUnit } from '#arrow';
import { sqlType } from '#catalog/arrow/nullColumns.ts';
import { quotedText } from '#shared/sqlTokens.ts';
import { convertUnit } from '#catalog/values/timeUnits.ts';
import type { Parameter } from './messages.ts';
import { nodeAt, textAt, type TreeNode } from './syntaxTree.ts';

// Dates, times and decimals in conditions that a table applies itself. A value is used only if a column of the type
// holds it exactly, because tables compare in the type of the column, and the engine in the wider one of both types.

/** A date, time or decimal of a query. */
export type ExactLiteral =
  | { kind: 'date'; days: bigint }
  /** A time of the day. */
  | { kind: 'time'; micros: bigint }
  /** A moment in UTC, which is the time zone of the engine. */
  | { kind: 'timestamp'; micros: bigint; hasZone: boolean }
  /** `whole` is the number of digits before the point that the engine provides for. */
  | { kind: 'decimal'; unscaled: bigint; scale: number; whole: number };

const microsOfDay = 86_400_000_000n;
/** Digits of the engine's widest decimal. */
const maxDigits = 38;
/** The digits that the engine provides for an integer of its type `BIGINT`. */
export const integerDigits = 19;

/** Reads `date '2024-01-31'`, `time '12:30:00'` and `timestamp '2024-01-31 12:30:00'`, also written as casts. */
export function readCast(node: TreeNode): ExactLiteral | undefined {
  const constant = nodeAt(nodeAt(node, 'child'), 'value');
  const text = constant?.['value'];
  if (nodeAt(constant, 'type')?.['id'] !== 'VARCHAR' || typeof text !== 'string') return undefined;
  switch (textAt(nodeAt(node, 'cast_type'), 'id')) {
    case 'DATE':
      return parseDate(text);
    case 'TIME':
      return parseTime(text);
    case 'TIMESTAMP':
      return parseTimestamp(text, false);
    case 'TIMESTAMP WITH TIME ZONE':
      return parseTimestamp(text, true);
    default:
      return undefined;
  }
}

/** Returns a decimal that the query has as a constant. */
export function readDecimal(unscaled: bigint, typeInfo: TreeNode | undefined): ExactLiteral {
  const scale = Number(typeInfo?.['scale'] ?? 0);
  return { kind: 'decimal', unscaled, scale, whole: Number(typeInfo?.['width'] ?? maxDigits) - scale };
}

export function exactParameter(parameter: Parameter | undefined): ExactLiteral | undefined {
  if (parameter?.type === 'time') return { kind: 'time', micros: parameter.micros };
  if (parameter?.type === 'timestamp') return { kind: 'timestamp', micros: parameter.micros, hasZone: true };
  if (parameter?.type !== 'decimal') return undefined;
  const { unscaled, scale } = parameter;
  return { kind: 'decimal', unscaled, scale, whole: maxDigits - scale };
}

/** Returns a string as the engine converts it for a column of this type; undefined if it is not in the usual form. */
export function convertText(type: DataType, text: string): ExactLiteral | undefined {
  if (DataType.isDate(type)) return parseDate(text);
  if (DataType.isTime(type)) return parseTime(text);
  if (DataType.isTimestamp(type)) return parseTimestamp(text, false);
  if (!DataType.isDecimal(type)) return undefined;
  const [, sign = '', whole = '', fraction = ''] = /^(-?)(\d{1,38})(?:\.(\d{1,38}))?$/.exec(text) ?? [];
  if (whole === '') return undefined;
  return { kind: 'decimal', unscaled: BigInt(`${sign}${whole}${fraction}`), scale: fraction.length, whole: 0 };
}

/** Returns a literal in the SQL of tables; undefined if a column of this type may compare with it differently. */
export function exactLiteralFor(type: DataType, literal: ExactLiteral): string | undefined {
  if (DataType.isDecimal(type)) return literal.kind === 'decimal' ? decimalLiteral(type, literal) : undefined;
  const count = countFor(type, literal);
  if (count === undefined) return undefined;
  // Tables cast an integer only to a type of the same width.
  const isShort = DataType.isDate(type) || (DataType.isTime(type) && type.bitWidth === 32);
  return castTo(type, isShort ? `arrow_cast(${count}, 'Int32')` : String(count));
}

const castTo = (type: DataType, literal: string): string => `arrow_cast(${literal}, ${quotedText(sqlType(type))})`;

/** Returns the number that a column of this type holds for a value. */
function countFor(type: DataType, literal: ExactLiteral): bigint | undefined {
  // The engine drops the time of dates in milliseconds.
  if (DataType.isDate(type)) return type.unit === DateUnit.DAY ? daysOf(literal) : undefined;
  if (DataType.isTime(type)) {
    if (literal.kind !== 'time' || type.unit === TimeUnit.NANOSECOND) return undefined;
    return convertUnit(literal.micros, TimeUnit.MICROSECOND, type.unit);
  }
  if (!DataType.isTimestamp(type) || !isPlainZone(type.timezone)) return undefined;
  // The engine drops the nanoseconds of a column that it compares with a time with a zone.
  if (type.unit === TimeUnit.NANOSECOND && (literal.kind !== 'timestamp' || literal.hasZone)) return undefined;
  const micros =
    literal.kind === 'timestamp' ? literal.micros : literal.kind === 'date' ? literal.days * microsOfDay : undefined;
  const count = micros === undefined ? undefined : convertUnit(micros, TimeUnit.MICROSECOND, type.unit);
  return count !== undefined && BigInt.asIntN(64, count) === count ? count : undefined;
}

const isPlainZone = (zone: string | null | undefined): boolean => /^[\w+\-/:]*$/.test(zone ?? '');

/** Returns the days of a date or of a timestamp at midnight. */
function daysOf(literal: ExactLiteral): bigint | undefined {
  if (literal.kind === 'date') return literal.days;
  return literal.kind === 'timestamp' && literal.micros % microsOfDay === 0n ? literal.micros / microsOfDay : undefined;
}

function decimalLiteral(
  type: DataType & { precision: number; scale: number },
  { unscaled, scale, whole }: ExactLiteral & { kind: 'decimal' },
): string | undefined {
  const { precision, scale: columnScale } = type;
  if (columnScale < 0 || columnScale > precision || precision > maxDigits) return undefined;
  // The engine compares in a type with the digits of both sides. If that has too many digits, it rounds.
  if (Math.max(precision - columnScale, whole) + Math.max(columnScale, scale) > maxDigits) return undefined;
  const divisor = 10n ** BigInt(Math.max(scale - columnScale, 0));
  if (unscaled % divisor !== 0n) return undefined;
  const count = (unscaled / divisor) * 10n ** BigInt(Math.max(columnScale - scale, 0));
  const digits = String(count)
    .replace('-', '')
    .padStart(columnScale + 1, '0');
  if (digits.length > precision && !(digits.length === precision + 1 && digits.startsWith('0'))) return undefined;
  const point = digits.length - columnScale;
  const text = `${count < 0n ? '-' : ''}${digits.slice(0, point)}${columnScale > 0 ? `.${digits.slice(point)}` : ''}`;
  return castTo(type, quotedText(text));
}

const datePattern = /^(\d{4})-(\d{2})-(\d{2})$/;
const timePattern = /^(\d{2}):(\d{2}):(\d{2})(?:\.(\d{1,6}))?$/;

function parseDate(text: string): (ExactLiteral & { kind: 'date' }) | undefined {
  const [, year, month, day] = datePattern.exec(text) ?? [];
  if (year === undefined || year === '0000') return undefined;
  const time = Date.UTC(Number(year), Number(month) - 1, Number(day));
  // `Date.UTC` takes the years 0 to 99 for 1900 to 1999, and February 30 for a day in March.
  if (new Date(time).toISOString().slice(0, 10) !== text) return undefined;
  return { kind: 'date', days: BigInt(time) / 86_400_000n };
}

function parseTime(text: string): (ExactLiteral & { kind: 'time' }) | undefined {
  const [, hour = '', minute = '', second = '', fraction = ''] = timePattern.exec(text) ?? [];
  const [hours, minutes, seconds] = [Number(hour), Number(minute), Number(second)];
  if (hour === '' || hours > 23 || minutes > 59 || seconds > 59) return undefined;
  const wholeSeconds = BigInt(hours * 3600 + minutes * 60 + seconds);
  return { kind: 'time', micros: wholeSeconds * 1_000_000n + BigInt(fraction.padEnd(6, '0')) };
}

function parseTimestamp(text: string, hasZone: boolean): ExactLiteral | undefined {
  const [day = '', clock = '00:00:00'] = text.split(/[ T]/, 2);
  const [date, time] = [parseDate(day), parseTime(clock)];
  if (!date || !time || text.length > day.length + 1 + clock.length) return undefined;
  return { kind: 'timestamp', micros: date.days * microsOfDay + time.micros, hasZone };
}
